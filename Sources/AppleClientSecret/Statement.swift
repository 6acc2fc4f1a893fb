internal import FoundationEssentials

/// What a token's header and payload state, without validation, so that a foreign or damaged token can be explained.
///
/// Texts come from the token: before showing them, escape what a terminal would act on.
public struct Statement: Hashable, Sendable {
    /// `alg` of the header (RFC 7515, section 4.1.1).
    public let algorithm: Stated<String>
    /// `kid` of the header (RFC 7515, section 4.1.4).
    public let keyID: Stated<String>
    /// `typ` of the header (RFC 7515, section 4.1.9).
    public let type: Stated<String>
    /// `iss`, the issuer (RFC 7519, section 4.1.1).
    public let issuer: Stated<String>
    /// `sub`, the subject (RFC 7519, section 4.1.2).
    public let subject: Stated<String>
    /// `aud`, the audience (RFC 7519, section 4.1.3): one text counts as a list of one.
    public let audience: Stated<[String]>
    /// Whether `aud` is written as a list, which Apple does not accept.
    public let audienceIsList: Bool
    /// `iat`, when it was issued (RFC 7519, section 4.1.6).
    public let issuedAt: Stated<NumericDate>
    /// `exp`, when it expires (RFC 7519, section 4.1.4).
    public let expiresAt: Stated<NumericDate>
    /// The names of all other header parameters, sorted.
    public let otherHeaderNames: [String]
    /// The names of all other claims, sorted.
    public let otherClaimNames: [String]

    /// Reads both JSON objects; throws `notJSONObject` with the part that is none.
    init(header: [UInt8], payload: [UInt8]) throws(CompactJWS.Flaw) {
        let header = try JSONObject(header, part: .header)
        let payload = try JSONObject(payload, part: .payload)
        algorithm = header.text("alg")
        keyID = header.text("kid")
        type = header.text("typ")
        otherHeaderNames = header.names(except: ["alg", "kid", "typ"])
        issuer = payload.text("iss")
        subject = payload.text("sub")
        issuedAt = payload.date("iat")
        expiresAt = payload.date("exp")
        otherClaimNames = payload.names(except: ["iss", "sub", "aud", "iat", "exp"])
        let list = payload.texts("aud")
        if case .value = list {
            audience = list
            audienceIsList = true
        } else {
            audience = payload.text("aud").map { [$0] }
            audienceIsList = false
        }
    }
}

/// What a token says under one name.
public enum Stated<Value> {
    /// The name does not occur.
    case missing
    /// The name occurs with a value of another kind, or one out of range.
    case unreadable
    /// The value that is stated.
    case value(Value)

    /// The value; nil when it is missing or unreadable.
    public var value: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    func map<Other>(_ transform: (Value) -> Other) -> Stated<Other> {
        switch self {
        case .missing: .missing
        case .unreadable: .unreadable
        case .value(let value): .value(transform(value))
        }
    }
}

extension Stated: Equatable where Value: Equatable {}
extension Stated: Hashable where Value: Hashable {}
extension Stated: Sendable where Value: Sendable {}

/// A NumericDate (RFC 7519, section 2): seconds since the epoch, with a fraction or without.
public enum NumericDate: Hashable, Sendable {
    /// Whole seconds, as Apple expects them.
    case whole(WallTime)
    /// Seconds with a fraction, or more of them than 64 bits hold.
    case fractional(Double)

    /// The moment, rounded down to a whole second; nil when 64 bits do not hold it.
    public var moment: WallTime? {
        switch self {
        case .whole(let moment): moment
        case .fractional(let seconds): Int64(exactly: seconds.rounded(.down)).map(WallTime.init(secondsSinceEpoch:))
        }
    }
}

/// The outermost JSON object of a token's part, whose values are read by name. Values that are not read are not
/// decoded; the decoder itself refuses more than 512 levels of nesting.
struct JSONObject: Decodable {
    private let container: KeyedDecodingContainer<Name>

    init(_ bytes: [UInt8], part: CompactJWS.Part) throws(CompactJWS.Flaw) {
        do {
            self = try JSONDecoder().decode(JSONObject.self, from: Data(bytes))
        } catch {
            throw .notJSONObject(part)
        }
    }

    init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Name.self)
    }

    func text(_ name: String) -> Stated<String> { value(name) }

    func texts(_ name: String) -> Stated<[String]> { value(name) }

    func date(_ name: String) -> Stated<NumericDate> {
        let whole: Stated<Int64> = value(name)
        if case .unreadable = whole {
            let fractional: Stated<Double> = value(name)
            return fractional.map(NumericDate.fractional)
        }
        return whole.map { .whole(WallTime(secondsSinceEpoch: $0)) }
    }

    func names(except known: Set<String>) -> [String] {
        container.allKeys.map(\.stringValue).filter { !known.contains($0) }.sorted()
    }

    private func value<Value: Decodable>(_ name: String) -> Stated<Value> {
        let key = Name(stringValue: name)
        guard container.contains(key) else { return .missing }
        guard let value = try? container.decode(Value.self, forKey: key) else { return .unreadable }
        return .value(value)
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
