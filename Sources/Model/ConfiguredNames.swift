internal import AppleClientSecret

/// A client's name in the configuration: letters, digits, `.`, `-` and `_`.
package struct ClientName: Hashable, Comparable, Sendable, LosslessStringConvertible {
    package let description: String

    /// The name written in `text`; nil when it is empty, longer than 64 bytes or holds another character.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isName(text) else { return nil }
        description = text
    }

    package static func < (left: ClientName, right: ClientName) -> Bool {
        left.description < right.description
    }
}

/// A key's name in the configuration: letters, digits, `.`, `-` and `_`.
package struct KeyName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    /// The name written in `text`; nil when it is empty, longer than 64 bytes or holds another character.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isName(text) else { return nil }
        description = text
    }

    package static func < (left: KeyName, right: KeyName) -> Bool {
        left.description < right.description
    }
}

/// A target's name in the configuration: letters, digits, `.`, `-` and `_`.
package struct TargetName: Hashable, Comparable, Sendable, LosslessStringConvertible {
    package let description: String

    /// The name written in `text`; nil when it is empty, longer than 64 bytes or holds another character.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard isName(text) else { return nil }
        description = text
    }

    package static func < (left: TargetName, right: TargetName) -> Bool {
        left.description < right.description
    }
}

extension ClientName: JSONString {}
extension TargetName: JSONString {}

/// Names become parts of file names, metric labels and addresses: short, of harmless characters, and never `.` or `..`.
///
/// For a string, because code for any text is several times as slow.
private func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64 && text != "." && text != ".."
        && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".-_".utf8.contains($0) }
}
