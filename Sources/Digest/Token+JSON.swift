package import AppleClientSecret

/// In a message between two processes, in a value of the store or in a record, a token is its text. No more than its length is
/// checked.
extension Token: JSONString {
    package var jsonString: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    package init?(jsonString text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        self.init(Array(text.utf8))
    }

    package static var expected: String { "a token" }
}
