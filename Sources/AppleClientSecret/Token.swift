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

    /// The same digest of its signing input, the bytes before the last dot. An ECDSA signature can be altered without the key and
    /// stays valid (r, n−s). So only this digest shows whether two valid tokens are the same secret.
    package let signed: Fingerprint

    /// The token with these bytes.
    ///
    /// - Parameters:
    ///   - bytes: the compact serialisation; not checked here.
    ///   - sha256: the SHA-256 digest function, 32 bytes, because this module contains no cryptography.
    public init(_ bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        func digest(_ bytes: [UInt8]) -> Fingerprint {
            Fingerprint(leadingBytes: sha256(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        self.bytes = bytes
        fingerprint = digest(bytes)
        signed = bytes.lastIndex(of: UInt8(ascii: ".")).map { digest(Array(bytes[..<$0])) } ?? fingerprint
    }

    /// Identifies this secret on other machines.
    package var name: SecretName { SecretName(fingerprint, signed: signed) }

    /// Its content; nil if it is no compact JWS.
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
