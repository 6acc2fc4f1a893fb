import AppleClientSecret

/// A secret's bytes on their way over a writer's socket; wherever it is printed, it shows none of them.
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

    /// What the other side calls a token; nothing of it is checked but its length.
    func token(sha256: ([UInt8]) -> [UInt8]) -> Token? {
        text.utf8.count > Token.maximumLength ? nil : Token(Array(text.utf8), sha256: sha256)
    }

    /// What a client secret in it states; nil when it is none.
    var claims: Claims? {
        (try? CompactJWS(Array(text.utf8)))?.claims
    }

    var description: String { "(a token)" }

    var customMirror: Mirror { Mirror(self, children: []) }
}
