package import AppleClientSecret

/// An authorization request (RFC 6749, section 4.1.1): the address that a browser opens to sign in.
package struct AuthorizationRequest: Hashable, Sendable {
    /// The data that Apple may be asked for; it sends them once, at the first sign-in.
    package enum Scope: String, Hashable, Sendable, CaseIterable {
        case name
        case email
    }

    /// The values that the answer contains.
    package enum ResponseType: String, Hashable, Sendable, CaseIterable {
        case code
        case codeAndIDToken = "code id_token"
    }

    package let clientID: ClientID
    /// The address to which Apple sends the browser afterwards, registered for the client id.
    package let redirectURI: String
    package let scopes: [Scope]
    package let responseType: ResponseType
    /// Comes back with the answer, so that a forged one is recognised.
    package let state: String
    /// Comes back in the identity token, so that one of another sign-in is recognised.
    package let nonce: String

    /// A request with a new state and nonce, 192 random bits each.
    package init(clientID: ClientID, redirectURI: String, scopes: [Scope], responseType: ResponseType) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.responseType = responseType
        state = Self.random()
        nonce = Self.random()
    }

    private static func random() -> String {
        let bytes = (0..<24).map { _ in UInt8.random(in: 0 ... .max) }
        return String(decoding: Base64URL.encode(bytes), as: UTF8.self)
    }

    /// How the answer comes back. Apple wants a form to be posted as soon as scopes are asked for, and never puts an
    /// identity token into an address' query.
    package var responseMode: String {
        scopes.isEmpty && responseType == .code ? "query" : "form_post"
    }

    /// The address, at this server.
    package func url(at endpoint: Endpoint) -> String {
        var fields: [FormEncoding.Field] = [
            ("client_id", clientID.description), ("redirect_uri", redirectURI),
            ("response_type", responseType.rawValue), ("response_mode", responseMode),
        ]
        if !scopes.isEmpty { fields.append(("scope", scopes.map(\.rawValue).joined(separator: " "))) }
        fields += [("state", state), ("nonce", nonce)]
        return endpoint.url(.authorize) + "?" + FormEncoding.encode(fields)
    }

    /// The request whose address this is, as ``url(at:)`` makes it; nil for anything else.
    package init?(url: some StringProtocol) {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first,
            let fields = FormEncoding.decode(query), let clientID = fields["client_id"].flatMap({ ClientID($0) }),
            let redirectURI = fields["redirect_uri"], let state = fields["state"], let nonce = fields["nonce"],
            let responseType = fields["response_type"].flatMap(ResponseType.init)
        else { return nil }
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.responseType = responseType
        self.state = state
        self.nonce = nonce
        scopes = (fields["scope"] ?? "").split(separator: " ").compactMap { Scope(rawValue: String($0)) }
    }

    /// The problem with a return address, and its correction; nil for one that Apple accepts.
    package static func problem(withRedirectURI text: String) -> String? {
        let scheme = "https://"
        guard text.hasPrefix(scheme) else { return "Apple accepts only return addresses with https" }
        guard text.utf8.allSatisfy(\.isASCIIVisible), !text.contains("#") else {
            return "a return address must not have a fragment (#), spaces or characters outside ASCII"
        }
        let host = text.dropFirst(scheme.count).prefix { !"/?:".contains($0) }
        let isAddress = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
        guard host.contains("."), !isAddress else {
            return "Apple accepts only return addresses with a domain name, not localhost or an IP address"
        }
        return nil
    }
}
