/// Names of environment variables.
package enum VariableName {
    /// In bytes: far more than any program uses.
    static let maximumLength = 255

    /// Whether every reader of environment files accepts `text` as a name: a letter or `_`, then letters, digits, `_`.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        text.utf8.count <= maximumLength && text.utf8.first?.isNameStart == true
            && text.utf8.allSatisfy(\.isNamePart)
    }

    /// Whether it is a name to docker and to programs that read such files by themselves: also with dots and dashes.
    static func isUsual(_ name: [UInt8]) -> Bool {
        name.first?.isNameStart == true
            && name.allSatisfy { $0.isNamePart || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    /// The problem with `text` as a name, and its correction; nil for a good name.
    @Sendable static func problem(_ text: String, _ quoted: (String) -> String) -> String? {
        isValid(text)
            ? nil
            : "\(quoted(text)) is not a variable's name; use letters, digits and \"_\", such as APPLE_CLIENT_SECRET"
    }
}
