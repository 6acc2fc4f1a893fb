import AppleClientSecret
import Failures

/// The answers of etcd's JSON gateway, by the rules of Protocol Buffers' JSON. A 64-bit number is a string of digits, or a
/// number; bytes are base64; an absent member has its default. A member of another type makes the whole answer unusable.
enum EtcdAnswer {
    /// The token of a login; nil for an answer without one.
    static func token(_ answer: HTTPAnswer) -> String? {
        guard let text = json(answer)?["token"]?.text, !text.isEmpty,
            text.utf8.allSatisfy(\.isASCIIVisible)
        else { return nil }
        return text
    }

    /// The content of `keys` that a transaction read, in their order, and the store's revision; nil for an answer to something
    /// else.
    ///
    /// - Parameter withoutValues: whether no values were asked for, because one of them is too long.
    static func entries(
        _ answer: HTTPAnswer, of keys: [[UInt8]], withoutValues: Bool = false
    ) -> (entries: [StoreEntry], revision: Int64)? {
        guard let json = json(answer), let revision = revision(json), let responses = json["responses"]?.elements,
            responses.count == keys.count
        else { return nil }
        var entries: [StoreEntry] = []
        for (response, key) in zip(responses, keys) {
            guard let range = response["response_range"], case .object = range else { return nil }
            switch range["kvs"] {
            case nil, .array([]): entries.append(.missing)
            case .array(let found):
                guard found.count == 1, let entry = entry(found[0], of: key, withoutValues) else { return nil }
                entries.append(entry)
            default: return nil
            }
        }
        return (entries, revision)
    }

    /// The keys of a page with their content, in their order, and whether more follow; nil for an answer to something else.
    static func page(
        _ answer: HTTPAnswer, withoutValues: Bool = false
    ) -> (entries: [(key: [UInt8], entry: StoreEntry)], hasMore: Bool)? {
        guard let json = json(answer), revision(json) != nil else { return nil }
        let found: [JSONValue]
        switch json["kvs"] {
        case nil: found = []
        case .array(let elements): found = elements
        default: return nil
        }
        let entries = found.compactMap { json -> (key: [UInt8], entry: StoreEntry)? in
            guard let key = json["key"]?.text.flatMap({ Base64.decode($0) }),
                let entry = entry(json, of: key, withoutValues)
            else { return nil }
            return (key, entry)
        }
        guard entries.count == found.count else { return nil }
        return (entries, json["more"] == .bool(true) && !entries.isEmpty)
    }

    /// The result of a put.
    enum Put: Hashable {
        /// It is there, at this revision.
        case done(revision: Int64)
        /// A key was changed at another revision than expected, or is gone. With the content of all keys, in their order.
        case found([StoreEntry])
    }

    /// The result of a put at these keys; nil for an answer to something else.
    static func put(_ answer: HTTPAnswer, at keys: [[UInt8]]) -> Put? {
        guard let json = json(answer) else { return nil }
        switch json["succeeded"] {
        case .bool(true):
            guard let revision = revision(json), json["responses"]?.elements?.count == keys.count else { return nil }
            return .done(revision: revision)
        case nil, .bool(false): return entries(answer, of: keys).map { .found($0.entries) }
        default: return nil
        }
    }

    private static func json(_ answer: HTTPAnswer) -> JSONValue? {
        guard let json = try? JSONValue(answer.body), case .object = json else { return nil }
        return json
    }

    private static func revision(_ json: JSONValue) -> Int64? {
        guard let header = json["header"], case .object = header else { return nil }
        return number(header["revision"])
    }

    private static func entry(_ json: JSONValue, of key: [UInt8], _ withoutValue: Bool) -> StoreEntry? {
        guard json["key"]?.text == Base64.encode(key), let revision = number(json["mod_revision"]), revision > 0 else {
            return nil
        }
        let value: [UInt8]?
        switch json["value"] {
        case nil: value = []
        case .string(let text): value = Base64.decode(text)
        default: value = nil
        }
        guard let value else { return nil }
        return withoutValue || value.count > StoreEntry.longest
            ? .tooLong(revision: revision) : .value(value, revision: revision)
    }

    /// A number that is not negative and that another one can follow, as a revision; nil for anything else.
    private static func number(_ json: JSONValue?) -> Int64? {
        let number: Int64?
        switch json {
        case nil: number = 0
        case .integer(let value): number = value
        case .string(let text):
            number = text.utf8.allSatisfy(\.isASCIIDigit) ? Int64(text) : nil
        default: number = nil
        }
        return number.flatMap { (0..<Int64.max).contains($0) ? $0 : nil }
    }
}
