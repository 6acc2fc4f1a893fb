/// Apple's name for the application that a secret authenticates: a Services ID on the web, an App ID in native
/// applications; the `sub` of a client secret.
///
/// Both are reverse-DNS identifiers: ASCII letters, digits, `.`, `-` and, in old ones, `_`.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
    /// The longest identifier that is accepted, in bytes: that of a DNS name (RFC 1035, section 2.3.4), more than any
    /// that Apple gives.
    public static let maximumLength = 255

    /// The identifier as Apple shows it.
    public let description: String

    /// The identifier written in `text`; nil when it is empty, longer than ``maximumLength`` or has another character.
    public init?(_ text: some StringProtocol) {
        let allowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57,
                UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed, !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
        description = String(text)
    }
}
