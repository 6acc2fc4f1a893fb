/// A secret's bytes in a message between two processes, in a value of the store or in a record; printing it shows none of
/// them.
package struct TokenText: JSONString, Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package let jsonString: String

    package init(_ token: Token) {
        jsonString = token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    package init(jsonString text: String) {
        jsonString = text
    }

    /// The token, of which no more than its length is checked; nil for one that is too long.
    ///
    /// - Parameter sha256: the digest function, 32 bytes.
    package func token(sha256: ([UInt8]) -> [UInt8]) -> Token? {
        jsonString.utf8.count > Token.maximumLength ? nil : Token(Array(jsonString.utf8), sha256: sha256)
    }

    /// What it states; nil where it is no compact JWS.
    package var parsed: CompactJWS? { try? CompactJWS(Array(jsonString.utf8)) }

    package var description: String { "(a token)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
