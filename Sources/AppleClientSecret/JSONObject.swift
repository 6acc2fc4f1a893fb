internal import FoundationEssentials

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
