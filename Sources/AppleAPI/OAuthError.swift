internal import AppleClientSecret
package import Failures

/// An error from Apple's token or revocation endpoint (RFC 6749, section 5.2), read leniently. Other members, another content
/// type and surrounding blanks are ignored.
package struct OAuthError: Error, Hashable, Sendable {
    /// `error`, such as `invalid_client`; at most ``longestCode`` Unicode scalars.
    package let code: String
    /// `error_description`, if there is one; at most ``longestDescription`` Unicode scalars.
    package let description: String?

    /// Longer than any code; a longer text is no code.
    static let longestCode = 64
    /// As much as is shown of another program's text.
    static let longestDescription = 200

    package init(_ code: String, description: String? = nil) {
        self.code = code
        // Scalars, not characters: one character may be of any length.
        self.description = description.map {
            String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.longestDescription)))
        }
    }

    /// The same error without secrets.
    func redacted(_ redacted: (String) -> String) -> OAuthError {
        OAuthError(redacted(code), description: description.map(redacted))
    }

    /// The error in an answer; nil if its body is no JSON object with an `error`. One with a name twice may mean either.
    package init?(_ answer: HTTPAnswer) {
        guard let json = try? JSONValue(answer.body), let code = json["error"]?.text,
            !code.isEmpty, code.unicodeScalars.count <= Self.longestCode
        else { return nil }
        self.init(code, description: json["error_description"]?.text)
    }

    /// The meaning of the error and the remedy, as a sentence; nil for a code that Apple does not document.
    ///
    /// - Parameter request: the request that was refused.
    package func explanation(of request: Request) -> String? {
        switch (code, request) {
        case ("invalid_client", _):
            "Apple refuses the client secret: it has expired, or key, key id, team id or client id do not belong together"
                + (request == .code ? ", or the return address differs from the one in the authorization request" : "")
                + "; 'verify' tells these apart"
        case ("invalid_grant", .code):
            "Apple accepts the client secret but not the code: a code is valid for five minutes, can be exchanged once, and "
                + "belongs to the client id and the return address of the authorization request"
        case ("invalid_grant", .refresh):
            "Apple accepts the client secret but not the refresh token: it was revoked, by the user or by the "
                + "application, or it belongs to another client id"
        case ("invalid_grant", .revocation): "Apple does not know the token under this client id"
        case ("invalid_request", _): "a field of the request is missing, duplicated or malformed"
        case ("unauthorized_client", _):
            "the client may not do this: check that Sign in with Apple is configured for this Services ID or App ID"
        case ("unsupported_grant_type", _):
            "Apple did not understand the request; a proxy in between may have changed the request"
        case ("invalid_scope", _): "Apple knows only the scopes name and email"
        case ("user_cancelled_authorize", _): "the user cancelled the sign-in"
        default: nil
        }
    }

    /// The request that an error answers.
    package enum Request: Sendable {
        case code
        case refresh
        case revocation
    }
}
