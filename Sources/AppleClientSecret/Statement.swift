/// The content of a token's header and payload, without validation, so that a foreign or damaged token can be explained.
///
/// Texts come from the token: before showing them, escape the characters that a terminal would act on.
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
    /// `origin`, the only web pages that may use it, of MusicKit and MapKit: one text counts as a list of one.
    public let origins: Stated<[String]>
    /// Whether `origin` is written as a list.
    public let originIsList: Bool
    /// `scope`, of MapKit.
    public let scope: Stated<String>
    /// The names of all other header parameters, sorted.
    public let otherHeaderNames: [String]
    /// The names of all other claims, sorted.
    public let otherClaimNames: [String]
    /// `nbf`, from when on it may be used (RFC 7519, section 4.1.5).
    let notBefore: Stated<NumericDate>
    /// A name that occurs twice in header or payload, so that two readers may see different values; nil if none does.
    /// Of its values the last one is stated here.
    let duplicateName: String?

    /// Reads both JSON objects; throws `notJSONObject` with the part that is none.
    init(header: [UInt8], payload: [UInt8]) throws(CompactJWS.ParseError) {
        let header = try JSONObject(header, part: .header)
        let payload = try JSONObject(payload, part: .payload)
        algorithm = header.text("alg")
        keyID = header.text("kid")
        type = header.text("typ")
        otherHeaderNames = header.names(except: ["alg", "kid", "typ"])
        issuer = payload.text("iss")
        subject = payload.text("sub")
        notBefore = payload.date("nbf")
        duplicateName = header.duplicate ?? payload.duplicate
        issuedAt = payload.date("iat")
        expiresAt = payload.date("exp")
        otherClaimNames = payload.names(except: ["iss", "sub", "aud", "iat", "exp", "origin", "scope"])
        (audience, audienceIsList) = payload.oneOrList("aud")
        (origins, originIsList) = payload.oneOrList("origin")
        scope = payload.text("scope")
    }
}

/// The value of one member of a token.
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

    package func map<Other>(_ transform: (Value) -> Other) -> Stated<Other> {
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

/// The outermost JSON object of a token's part, whose values are read by name.
private struct JSONObject {
    private let members: [String: JSONValue]
    /// A name that occurs twice, in this object or in one below it.
    let duplicate: String?

    init(_ bytes: [UInt8], part: CompactJWS.Part) throws(CompactJWS.ParseError) {
        var duplicate: String?
        var value: JSONValue?
        do throws(JSONError) {
            value = try JSONValue(bytes)
        } catch {
            if case .duplicate(let name) = error {
                duplicate = name
                value = try? JSONValue(bytes, duplicates: .lastCounts)
            }
        }
        guard case .object(let members) = value else { throw .notJSONObject(part) }
        self.members = members
        self.duplicate = duplicate
    }

    func text(_ name: String) -> Stated<String> { value(name) { $0.text } }

    /// A text, as a list of one, or a list of texts.
    func oneOrList(_ name: String) -> (Stated<[String]>, isList: Bool) {
        let list: Stated<[String]> = value(name) { value in
            guard let elements = value.elements else { return nil }
            let texts = elements.compactMap(\.text)
            return texts.count == elements.count ? texts : nil
        }
        if case .value = list { return (list, true) }
        return (text(name).map { [$0] }, false)
    }

    func date(_ name: String) -> Stated<NumericDate> {
        value(name) { value in
            if let seconds = value.whole { return .whole(WallTime(secondsSinceEpoch: seconds)) }
            guard case .fraction(let seconds) = value else { return nil }
            return .fractional(seconds)
        }
    }

    func names(except known: Set<String>) -> [String] {
        members.keys.filter { !known.contains($0) }.sorted()
    }

    private func value<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Stated<Value> {
        guard let member = members[name] else { return .missing }
        return read(member).map(Stated.value) ?? .unreadable
    }
}
