import AppleClientSecret

/// A secret's bytes in a message on a user writer's socket; printing it shows none of them.
struct WireToken: Codable, Sendable, CustomStringConvertible, CustomReflectable {
    private let text: String

    init(_ token: Token) {
        text = token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// What the other side sent as a token, checked for its length only.
    func token(sha256: ([UInt8]) -> [UInt8]) -> Token? {
        text.utf8.count > Token.maximumLength ? nil : Token(Array(text.utf8), sha256: sha256)
    }

    /// The claims of a client secret; nil when it is none.
    var claims: Claims? {
        (try? CompactJWS(Array(text.utf8)))?.claims
    }

    var description: String { "(a token)" }

    var customMirror: Mirror { Mirror(self, children: []) }
}
