internal import AppleClientSecret

/// The SHA-256 digest of a key's public half (its DER SubjectPublicKeyInfo), in lower-case hexadecimal; shows whether a
/// key file still holds the same key.
package struct KeyDigest: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The digest written in `text`; nil unless it is 64 lower-case hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        // A string, because code for any text is several times as slow.
        let text = String(text)
        guard Hex.isEncoded(text, digits: 64) else { return nil }
        description = text
    }
}

extension KeyDigest: JSONString {
    package init?(jsonString text: String) { self.init(text) }
}

extension KeyDigest {
    /// The key's display name, formed as a secret's: the beginning of the digest.
    package var fingerprint: String { "sha256:" + description.prefix(16) }
}
