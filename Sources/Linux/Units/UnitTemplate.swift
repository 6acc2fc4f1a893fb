internal import AppleClientSecret

/// The template of a systemd unit.
package enum UnitTemplate {
    /// The template that a unit is an instance of: `app@.service` of `app@one.service`. Nil when it is none.
    package static func name(of unit: String) -> String? {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), unit.index(after: at) < dot
        else { return nil }
        return String(unit[...at] + unit[dot...])
    }

    /// Whether a text can be an instance's name unchanged: systemctl(1) escapes other characters, and `%i` is the escaped text.
    package static func isInstance(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ":-_.@".utf8.contains($0) }
    }
}
