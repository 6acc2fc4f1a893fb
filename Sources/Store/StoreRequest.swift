package import AppleClientSecret

/// What the store role of the network program is asked to do, by a ``StoreRoleRequest``. The role knows of values only how long
/// they are.
package enum StoreRequest: Hashable, Sendable {
    /// Read these keys: at least one, and ``mostKeys`` at most. The keys at an even place and the one after it are read
    /// in one transaction.
    case read([StoreKey])
    /// Put all these values, if each key was last changed at its revision.
    case put([Put])
    /// List the keys of this kind: a page of them, from a ``StoreResult/list(_:next:)`` on; nil for the first one.
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

    /// Whether it has as many keys and values, and values as long, as a request may have.
    var isWithinLimits: Bool {
        switch self {
        case .read(let keys): (1...Self.mostKeys).contains(keys.count) && Set(keys).count == keys.count
        case .put(let puts):
            (1...Self.mostPuts).contains(puts.count) && Set(puts.map(\.key)).count == puts.count
                && puts.allSatisfy { $0.value.count <= StoreEntry.longest && $0.revision >= 0 }
        case .list: true
        case .remove(_, let revision): revision > 0
        }
    }
}

extension StoreRequest: JSONDocument {
    private enum Verb: String, JSONString {
        case read, put, list, remove
    }

    /// The values of the members; nil in a request that has no such member.
    private var parts:
        (
            verb: Verb, keys: [StoreKey]?, puts: [Put]?, kind: StoreKey.Kind?, from: Base64Bytes?, revision: Int64?
        )
    {
        switch self {
        case .read(let keys): (.read, keys, nil, nil, nil, nil)
        case .put(let puts): (.put, nil, puts, nil, nil, nil)
        case .list(let kind, let from): (.list, nil, nil, kind, from.map(Base64Bytes.init), nil)
        case .remove(let key, let revision): (.remove, [key], nil, nil, nil, revision)
        }
    }

    package init(_ request: StoreRequest?, _ members: inout JSONMembers) throws(JSONError) {
        let parts = request?.parts
        switch try members("do", parts?.verb) {
        case .read: self = .read(try members("keys", parts?.keys))
        case .put: self = .put(try members("puts", parts?.puts))
        case .list:
            let kind = try members("kind", parts?.kind)
            self = .list(kind, from: try members.orNull("from", parts?.from)?.bytes)
        case .remove:
            let key = try members("key", parts?.keys?.first)
            self = .remove(key, ifAt: try members("revision", parts?.revision))
        }
    }
}

extension StoreRequest.Put: JSONDocument {
    package init(_ put: StoreRequest.Put?, _ members: inout JSONMembers) throws(JSONError) {
        key = try members("key", put?.key)
        value = try members("value", (put?.value).map(Base64Bytes.init)).bytes
        revision = try members("revision", put?.revision)
    }
}
