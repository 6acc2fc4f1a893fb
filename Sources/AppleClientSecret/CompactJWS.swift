/// A parsed token: the compact serialisation of RFC 7515, section 7.1, with a JSON object as its payload (RFC 7519).
/// Its signature is not checked here.
///
/// When printed or dumped it shows its header and claims, never its bytes.
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
    public enum ParseError: Error, Hashable, Sendable {
        /// There are no bytes.
        case empty
        /// There are more than ``Token/maximumLength`` bytes.
        case tooLong
        /// There are not exactly two dots.
        case notThreeParts
        /// A part is not base64url without padding. It contains another character (also a blank or a line break), has an
        /// impossible length, or its unused bits are not zero.
        case notBase64URL(Part)
        /// A part is not one JSON object.
        case notJSONObject(Part)
    }

    /// The content of the header and the payload.
    public let stated: Statement

    /// The bytes that are signed (RFC 7515, section 5.1).
    package let signingInput: [UInt8]

    /// The signature's bytes; 64 with ES256 (RFC 7518, section 3.4).
    package let signature: [UInt8]

    /// Parses `bytes`. Blanks around the token are not part of it: trim them before.
    public init(_ bytes: some Collection<UInt8>) throws(ParseError) {
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

    private static func decode(_ text: ArraySlice<UInt8>, _ part: Part) throws(ParseError) -> [UInt8] {
        guard let bytes = Base64URL.decode(text) else { throw .notBase64URL(part) }
        return bytes
    }

    /// The token's header and claims; never its bytes.
    public var description: String { "\(stated)" }

    /// The token's header and claims; never its bytes.
    public var debugDescription: String { description }

    /// A mirror with the token's header and claims; never its bytes.
    public var customMirror: Mirror { Mirror(self, children: ["stated": stated]) }
}

extension CompactJWS {
    /// The length of an ES256 signature: two 32-byte numbers (RFC 7518, section 3.4).
    package static let signatureLength = 64

    /// The claims of a client secret in a form that Apple accepts, so that an existing one can be adopted; nil for any other
    /// token. The signature and the expiry are not checked here.
    ///
    /// Stricter than RFC 7519: only ES256, well-formed ids, Apple's audience as one text, `iat` before `exp`, no name
    /// twice, no `crit` (RFC 7515, section 4.1.11). Fractions of a second are dropped. Other names are accepted.
    public var claims: Claims? { form?.claims }

    /// How long a client secret usually is at most, in bytes. The longest that this package mints has 646, with a client
    /// id of ``ClientID/maximumLength``; those of other programs may have a few claims more.
    package static let usualLength = 2_048

    /// Whether these bytes begin like the base64url of a JSON object: with `eyJ` for `{"` and a letter, or like `{` and white
    /// space.
    package static func seemsToBegin(_ bytes: some Collection<UInt8>) -> Bool {
        let start = bytes.prefix(3)
        return ["eyJ", "eyA", "ewo", "ewk", "ew0"].contains { start.elementsEqual($0.utf8) }
    }

    /// Finds possible client secrets in other bytes, sorted by their beginnings. Each begins like one (``seemsToBegin(_:)``) and
    /// ends with an ES256 signature after the second dot. They may overlap. Only their characters are checked, not their claims.
    ///
    /// - Parameter limit: the longest candidate, in bytes. Parsing one takes time in proportion to its length.
    ///
    /// The time is always proportional to the count of bytes, because others write them.
    package static func candidates(in bytes: [UInt8], upTo limit: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        // From the end, so that the dots behind each beginning are known when it is reached.
        var runEnd = bytes.count
        var dots: (first: Int?, second: Int?, third: Int?)
        for index in bytes.indices.reversed() {
            let byte = bytes[index]
            if byte == UInt8(ascii: ".") {
                dots = (index, dots.first, dots.second)
            } else if !byte.isBase64URL {
                runEnd = index
                dots = (nil, nil, nil)
            } else if byte == UInt8(ascii: "e"), seemsToBegin(bytes[index...]), let second = dots.second {
                let end = second + 1 + Base64.length(ofBytes: signatureLength)
                if end <= dots.third ?? runEnd, end - index <= limit { found.append(index..<end) }
            }
        }
        return found.reversed()
    }
}
