/// The bytes of a client secret, a compact JWS (RFC 7515, section 7.1).
///
/// When printed, dumped or logged it shows its fingerprint. It gives access to its bytes only through ``withBytes(_:)``, so that
/// searching for that name finds every place that can see a secret.
public struct Token: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The longest token that is read, in bytes; a secret of this program has about 330.
    public static let maximumLength = 16_384

    private let bytes: [UInt8]

    /// The name of this secret for messages and logs.
    public let fingerprint: Fingerprint

    /// The same digest of its signing input, the bytes before the last dot: an ECDSA signature can be altered without the
    /// key and stays valid (r, n−s), so only this says whether two valid tokens are the same secret.
    package let signed: Fingerprint

    /// The token with these bytes.
    ///
    /// - Parameters:
    ///   - bytes: the compact serialisation; not checked here.
    ///   - sha256: the SHA-256 digest function, 32 bytes: this module has no cryptography of its own.
    public init(_ bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        func digest(_ bytes: [UInt8]) -> Fingerprint {
            Fingerprint(leadingBytes: sha256(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        self.bytes = bytes
        fingerprint = digest(bytes)
        signed = bytes.lastIndex(of: UInt8(ascii: ".")).map { digest(Array(bytes[..<$0])) } ?? fingerprint
    }

    /// What identifies this secret on other machines.
    package var name: SecretName { SecretName(fingerprint, signed: signed) }

    /// What it states; nil where it is no compact JWS.
    package var parsed: CompactJWS? { try? CompactJWS(bytes) }

    /// Calls `body` with the secret's bytes. They must not be kept, logged or put into a message.
    public func withBytes<Result, Failure: Error>(_ body: ([UInt8]) throws(Failure) -> Result) throws(Failure) -> Result
    {
        try body(bytes)
    }

    /// The fingerprint, never the bytes.
    public var description: String { fingerprint.description }

    /// The fingerprint, never the bytes.
    public var debugDescription: String { fingerprint.description }

    /// A mirror with only the fingerprint, never the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}

/// What identifies a secret in records, reports and rollouts, where its signature is not checked.
package struct SecretName: Hashable, Sendable {
    /// Of the token's bytes, as `sha256sum` shows it for a raw output. This is what people see.
    package let fingerprint: Fingerprint
    /// Of the signing input; nil where an older version has written the name.
    package let signed: Fingerprint?

    package init(_ fingerprint: Fingerprint, signed: Fingerprint? = nil) {
        self.fingerprint = fingerprint
        self.signed = signed
    }

    /// The fingerprint, and the digest of the signing input where that is known: two names of one secret share one of them.
    package var digests: [Fingerprint] { [fingerprint] + (signed.map { [$0] } ?? []) }

    /// Whether both are the same secret, whatever its signature.
    package func isSame(as other: SecretName) -> Bool {
        fingerprint == other.fingerprint || signed != nil && signed == other.signed
    }
}

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
