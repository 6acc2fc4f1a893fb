/// A parsed token: the compact serialisation of RFC 7515, section 7.1, with a JSON object as its payload (RFC 7519).
/// Its signature is not checked here.
///
/// When printed or dumped it shows what the token states, never its bytes.
public struct CompactJWS: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One of the three parts between the dots.
    public enum Part: String, Hashable, Sendable {
        /// The protected header.
        case header
        /// The claims.
        case payload
        /// The signature.
        case signature
    }

    /// Why bytes are not a token.
    public enum Flaw: Error, Hashable, Sendable {
        /// There are no bytes.
        case empty
        /// There are more than ``Token/maximumLength`` bytes.
        case tooLong
        /// There are not exactly two dots.
        case notThreeParts
        /// A part is not base64url without padding: another character (a blank or a line break too), an impossible
        /// length, or unused bits that are not zero.
        case notBase64URL(Part)
        /// A part is not one JSON object.
        case notJSONObject(Part)
    }

    /// What the header and the payload state.
    public let stated: Statement

    /// The bytes that are signed (RFC 7515, section 5.1).
    package let signingInput: [UInt8]

    /// The signature's bytes; 64 with ES256 (RFC 7518, section 3.4).
    package let signature: [UInt8]

    /// Parses `bytes`. Blanks around the token are not part of it: trim them before.
    public init(_ bytes: some Collection<UInt8>) throws(Flaw) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Token.maximumLength else { throw .tooLong }
        // An array, because code for any collection is several times as slow.
        let bytes = Array(bytes)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts }
        let header = try Self.decode(parts[0], .header)
        let payload = try Self.decode(parts[1], .payload)
        signature = try Self.decode(parts[2], .signature)
        stated = try Statement(header: header, payload: payload)
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    private static func decode(_ text: ArraySlice<UInt8>, _ part: Part) throws(Flaw) -> [UInt8] {
        guard let bytes = Base64URL.decode(text) else { throw .notBase64URL(part) }
        return bytes
    }

    /// What the token states; never its bytes.
    public var description: String { "\(stated)" }

    /// What the token states; never its bytes.
    public var debugDescription: String { description }

    /// A mirror with what the token states; never its bytes.
    public var customMirror: Mirror { Mirror(self, children: ["stated": stated]) }
}
