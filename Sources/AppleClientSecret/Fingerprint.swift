/// The name of a secret that may be shown to anyone: `sha256:` and the first 16 hexadecimal digits of the SHA-256
/// digest of its bytes.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The digest's first eight bytes, the first one the most significant.
    public let leadingBytes: UInt64

    /// The fingerprint with these leading bytes of the digest.
    public init(leadingBytes: UInt64) {
        self.leadingBytes = leadingBytes
    }

    /// The fingerprint written in `text`, `sha256:0123456789abcdef`; nil for any other form.
    public init?(_ text: some StringProtocol) {
        let digits = text.dropFirst("sha256:".count)
        guard text.hasPrefix("sha256:"), digits.utf8.count == 16,
            digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let value = UInt64(digits, radix: 16)
        else { return nil }
        leadingBytes = value
    }

    /// `sha256:` and 16 lower-case hexadecimal digits.
    public var description: String {
        let digits = String(leadingBytes, radix: 16)
        return "sha256:" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}
