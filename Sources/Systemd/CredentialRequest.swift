import AppleClientSecret
import Linux

/// A service manager's request for a unit that has `LoadCredential=NAME:SOCKET` (systemd.exec(5)).
///
/// The manager sends nothing: it binds its end of the connection to an abstract address that holds the request. As
/// any user can bind to one, trust only root.
package struct CredentialRequest: Hashable, Sendable {
    /// The unit's own name, never an alias: for an instance of a template with the instance's name, escapes kept.
    package let unit: String
    /// The credential's name.
    package let name: String

    /// systemd's limits: UNIT_NAME_MAX and NAME_MAX, each less its NUL.
    private static let longestName = 255
    /// The random number's hexadecimal digits: at most 16.
    private static let randomDigits = 1...16

    /// Parses `address`, which is `\0RANDOM/unit/UNIT/NAME` in `sun_path`; nil when it has another form.
    package init?(address: [UInt8]) {
        guard address.first == 0 else { return nil }
        let parts = address.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 4, Self.randomDigits.contains(parts[0].count),
            parts[0].allSatisfy({ Hex.value(of: $0) != nil }),
            parts[1].elementsEqual("unit".utf8), Self.isUnit(parts[2]), Self.isCredential(parts[3])
        else { return nil }
        unit = String(decoding: parts[2], as: UTF8.self)
        name = String(decoding: parts[3], as: UTF8.self)
    }

    /// The template that the unit is an instance of: `app@.service` of `app@one.service`. Nil when it is none.
    package var template: String? { UnitTemplate.name(of: unit) }

    /// The characters of unit_name_is_valid in systemd, and a suffix.
    private static func isUnit(_ text: ArraySlice<UInt8>) -> Bool {
        guard let dot = text.lastIndex(of: UInt8(ascii: ".")), dot > text.startIndex, dot < text.endIndex - 1,
            text.first != UInt8(ascii: "@")
        else { return false }
        return text.count <= longestName
            && text.allSatisfy { $0.isASCIIAlphanumeric || ":-_.\\@".utf8.contains($0) }
    }

    /// The rule of credential_name_valid in systemd: a valid file name of printable ASCII without a colon.
    private static func isCredential(_ text: ArraySlice<UInt8>) -> Bool {
        (1...longestName).contains(text.count) && !text.elementsEqual(".".utf8) && !text.elementsEqual("..".utf8)
            && text.allSatisfy { $0.isASCIIPrintable && $0 != UInt8(ascii: ":") }
    }
}
