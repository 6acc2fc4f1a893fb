package import AppleClientSecret

/// The answer at the return address: the address itself, the form that was posted to it, or the bare code.
package struct AuthorizationResponse: Sendable {
    /// The authorization code, or why there is none.
    package let code: Result<String, OAuthError>
    /// Nil if none came back, or if only a code was given.
    package let state: String?
    /// Whether only a code was given, as a user copied it, and not all that came back.
    package let isCodeAlone: Bool
    /// The identity token that came with the code.
    package let identityToken: String?
    /// Data that Apple sends only at the first sign-in, as the browser sent it: unlike the identity token it is not signed.
    package let user: JSONValue?

    /// Nil for any other text.
    package init?(_ text: String) {
        let trimmed = text.trimming(while: \.isWhitespace)
        guard !trimmed.isEmpty else { return nil }
        guard trimmed.contains("=") else {
            guard trimmed.utf8.allSatisfy(\.isASCIIVisible) else { return nil }
            code = .success(String(trimmed))
            (state, identityToken, user) = (nil, nil, nil)
            isCodeAlone = true
            return
        }
        isCodeAlone = false
        guard let fields = FormEncoding.decode(Self.fields(of: trimmed)) else { return nil }
        if let error = fields["error"] {
            code = .failure(OAuthError(error, description: fields["error_description"]))
        } else if let value = fields["code"], !value.isEmpty {
            code = .success(value)
        } else {
            return nil
        }
        state = fields["state"]
        identityToken = fields["id_token"]
        user = fields["user"].flatMap { try? JSONValue(Array($0.utf8)) }
    }

    /// Returns a form unchanged; of an address the query, or the fragment if there is no query. If both exist, another program
    /// added the fragment, as some sites do.
    private static func fields(of text: Substring) -> Substring {
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return text }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        return query ?? parts.dropFirst().first ?? ""
    }
}
