/// The name of a secret that may be shown to anyone: `sha256:` and the first 16 hexadecimal digits of the SHA-256
/// digest of its bytes.
public struct Fingerprint: Hashable, Sendable, LosslessStringConvertible {
    /// The digest's first eight bytes, the first one the most significant.
    public let leadingBytes: UInt64

    /// The fingerprint with these leading bytes of the digest.
    public init(leadingBytes: UInt64) {
        self.leadingBytes = leadingBytes
    }

    /// The fingerprint written in `text`, `sha256:0123456789abcdef`; nil for any other form.
    public init?(_ text: some StringProtocol) {
        // Bytes of a string, because code for characters, or for any text, is several times as slow.
        let bytes = Array(String(text).utf8)
        guard bytes.starts(with: "sha256:".utf8), let value: UInt64 = Hex.decode(bytes[7...]) else { return nil }
        leadingBytes = value
    }

    /// `sha256:` and 16 lower-case hexadecimal digits.
    public var description: String { "sha256:" + Hex.encode(leadingBytes) }
}
