import AppleClientSecret

/// A request to the store role of the network program: one JSON object on one line. The role knows of values only how long
/// they are.
package enum StoreRequest: Hashable, Sendable {
    /// What do these keys hold? At least one, and ``mostKeys`` at most. The keys at an even place and the one after it are read
    /// in one transaction.
    case read([StoreKey])
    /// Put all these values, if each key was last changed at its revision.
    case put([Put])
    /// What keys of this kind are there? A page of them, from a ``StoreResult/list(_:next:)`` on; nil for the first one.
    case list(StoreKey.Kind, from: [UInt8]?)
    /// Remove the key, unless it was changed at another revision.
    case remove(StoreKey, ifAt: Int64)

    /// A value for a key.
    package struct Put: Hashable, Sendable {
        package let key: StoreKey
        /// At most ``StoreEntry/longest`` bytes.
        package let value: [UInt8]
        /// At which the key was last changed; 0: if there is none.
        package let revision: Int64

        package init(_ value: [UInt8], at key: StoreKey, ifAt revision: Int64) {
            self.key = key
            self.value = value
            self.revision = revision
        }
    }

    /// Of one read: a thousand clients, each with its rollout.
    package static let mostKeys = 2_048
    /// Of one put: a secret and its rollout.
    private static let mostPuts = 2

    /// Whether it reads secrets.
    package var isRead: Bool { if case .read = self { true } else { false } }

    /// How many keys the answer is about, but for a page of keys.
    var keys: Int {
        switch self {
        case .read(let keys): keys.count
        case .put(let puts): puts.count
        case .list, .remove: 0
        }
    }

    /// In bytes, without the line's end.
    package static let longest = 1 << 19

    /// Reads ``line``; nil for anything else.
    package init?(line bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let json = try? JSONValue(bytes) else { return nil }
        switch json["do"]?.text {
        case "read":
            let texts = json["keys"]?.elements ?? []
            let keys = texts.compactMap { $0.text.flatMap(StoreKey.init) }
            guard keys.count == texts.count, (1...Self.mostKeys).contains(keys.count), Set(keys).count == keys.count
            else {
                return nil
            }
            self = .read(keys)
        case "put":
            let values = json["puts"]?.elements ?? []
            let puts = values.compactMap(Put.init)
            guard puts.count == values.count, (1...Self.mostPuts).contains(puts.count),
                Set(puts.map(\.key)).count == puts.count
            else { return nil }
            self = .put(puts)
        case "list":
            guard let kind = json["kind"]?.text.flatMap(StoreKey.Kind.init) else { return nil }
            switch json["from"] {
            case nil, .null: self = .list(kind, from: nil)
            case .string(let text):
                guard let from = Base64.decode(text) else { return nil }
                self = .list(kind, from: from)
            default: return nil
            }
        case "remove":
            guard let key = json["key"]?.text.flatMap(StoreKey.init), let revision = json["revision"]?.whole,
                revision > 0
            else { return nil }
            self = .remove(key, ifAt: revision)
        default: return nil
        }
    }

    /// The request as it goes to the store role.
    package var line: [UInt8] {
        let members: [(String, JSONText)] =
            switch self {
            case .read(let keys): [("do", .string("read")), ("keys", .array(keys.map { .string($0.description) }))]
            case .put(let puts): [("do", .string("put")), ("puts", .array(puts.map(\.json)))]
            case .list(let kind, let from):
                [("do", .string("list")), ("kind", .string(kind.rawValue)), ("from", .text(from.map(Base64.encode)))]
            case .remove(let key, let revision):
                [("do", .string("remove")), ("key", .string(key.description)), ("revision", .number(Int(revision)))]
            }
        return JSONText.object(members).bytes
    }
}

extension StoreRequest.Put {
    fileprivate var json: JSONText {
        .object([
            ("key", .string(key.description)), ("value", .string(Base64.encode(value))),
            ("revision", .number(Int(revision))),
        ])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let key = json["key"]?.text.flatMap(StoreKey.init),
            let value = json["value"]?.text.flatMap({ Base64.decode($0) }), value.count <= StoreEntry.longest,
            let revision = json["revision"]?.whole, revision >= 0
        else { return nil }
        self.init(value, at: key, ifAt: revision)
    }
}
