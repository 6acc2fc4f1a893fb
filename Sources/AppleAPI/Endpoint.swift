internal import AppleClientSecret

/// The server that is asked: Apple's, or another one that speaks like it. Its paths are fixed here and not discovered,
/// so that no answer can send a secret elsewhere.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The beginning of the server's address: `https://`, a host, a port other than 443, and a path's beginning, without a slash
    /// at the end.
    package let description: String

    /// Apple's own.
    package static let apple = Endpoint(checked: "https://appleid.apple.com")

    /// The path of each request.
    package enum Path: String, Sendable {
        case authorize = "/auth/authorize"
        case token = "/auth/token"
        case keys = "/auth/keys"
        case revoke = "/auth/revoke"
    }

    private init(checked text: String) {
        description = text
    }

    /// The server at this address, only of `https`; nil for anything else.
    package init?(_ text: String) {
        guard let address = WebAddress(text), address.scheme == .https else { return nil }
        var path = address.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        description = address.origin + path
    }

    /// The address of `path` at this server.
    package func url(_ path: Path) -> String {
        description + path.rawValue
    }
}
