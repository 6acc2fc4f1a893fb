/// The server that is asked: Apple's, or another one that speaks like it. Its paths are fixed here and not discovered,
/// so that no answer can send a secret elsewhere.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Where the server begins: `https://`, a host, a port where it is not 443, and a path's beginning, without a slash
    /// at the end.
    package let description: String

    /// Apple's own.
    package static let apple = Endpoint(checked: "https://appleid.apple.com")

    /// What is asked for at the server.
    package enum Path: String, Sendable {
        case authorize = "/auth/authorize"
        case token = "/auth/token"
        case keys = "/auth/keys"
        case revoke = "/auth/revoke"
    }

    private init(checked text: String) {
        description = text
    }

    /// The server at this address; nil for anything but `https`, for user information, a query or a fragment, and for
    /// characters that no address has.
    package init?(_ text: String) {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme), text.utf8.count <= 2_048 else { return nil }
        var rest = text.dropFirst(scheme.count)
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        guard let host = Self.host(authority), path.utf8.allSatisfy(Self.isOfPath) else { return nil }
        description = scheme + host + path
    }

    /// The address of `path` at this server.
    package func url(_ path: Path) -> String {
        description + path.rawValue
    }

    /// Host and port as they stand in an address.
    private static func host(_ authority: Substring) -> String? {
        var name = authority
        var port = ""
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            name = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits), number > 0 else {
                return nil
            }
            port = number == 443 ? "" : ":\(number)"
        }
        let isAddress = name.hasPrefix("[") && name.hasSuffix("]")
        let inner = isAddress ? name.dropFirst().dropLast() : name
        let allowed = inner.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57,
                UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            case UInt8(ascii: ":"): isAddress
            default: false
            }
        }
        return allowed && !inner.isEmpty ? name.lowercased() + port : nil
    }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
        default: "/-._~%".utf8.contains(byte)
        }
    }
}
