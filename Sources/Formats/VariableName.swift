/// Names of environment variables.
package enum VariableName {
    /// In bytes: far more than any program uses.
    static let maximumLength = 255

    /// Whether every reader of environment files accepts `text` as a name: a letter or `_`, then letters, digits, `_`.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumLength && !(48...57).contains(text.utf8.first ?? 0)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57,
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// What is wrong with `text` as a name, and what to write instead; nil when nothing is.
    @Sendable static func mistake(_ text: String, _ quoted: (String) -> String) -> String? {
        isValid(text)
            ? nil
            : "\(quoted(text)) is not a variable's name; use letters, digits and \"_\", such as APPLE_CLIENT_SECRET"
    }
}
