package import AppleClientSecret
package import Failures

/// The result of a ``StoreRequest``: one JSON object on one line.
package enum StoreResult: Equatable, Sendable {
    /// The content of the keys, in the order they were named in.
    case read([StoreEntry])
    /// The keys hold the values now, or held them already, at this revision.
    case put(revision: Int64)
    /// Nothing was put, because one of the keys was changed at another revision than expected. With the content of each key.
    case conflict([StoreEntry])
    /// A page of keys, ``mostListed`` at most, and where the next one begins; nil for the last one.
    case list([Listed], next: [UInt8]?)
    /// The key is gone, or was changed at another revision.
    case removed
    case failed(RoleFailure)

    /// A key of a page, and its content.
    package struct Listed: Hashable, Sendable {
        package let key: StoreKey
        package let entry: StoreEntry
    }

    /// Of one page: most have some hundred bytes, and at most 1 MiB of etcd's answer is read.
    static let mostListed = 256

    /// Whether no page and no value is longer than one may be.
    var isWithinLimits: Bool {
        let entries: [StoreEntry]
        switch self {
        case .read(let found), .conflict(let found): entries = found
        case .list(let listed, _):
            guard listed.count <= Self.mostListed else { return false }
            entries = listed.map(\.entry)
        case .put, .removed, .failed: return true
        }
        return entries.allSatisfy {
            if case .value(let bytes, _) = $0 { bytes.count <= StoreEntry.longest } else { true }
        }
    }
}

extension StoreResult: JSONDocument {
    private enum Kind: String, JSONString {
        case read, put, conflict, list, removed, failed
    }

    /// The values of the members; nil in a result that has no such member.
    private var parts:
        (
            kind: Kind, entries: [StoreEntry]?, listed: [Listed]?, next: Base64Bytes?, revision: Int64?,
            failure: RoleFailure?
        )
    {
        switch self {
        case .read(let entries): (.read, entries, nil, nil, nil, nil)
        case .put(let revision): (.put, nil, nil, nil, revision, nil)
        case .conflict(let entries): (.conflict, entries, nil, nil, nil, nil)
        case .list(let listed, let next): (.list, nil, listed, next.map(Base64Bytes.init), nil, nil)
        case .removed: (.removed, nil, nil, nil, nil, nil)
        case .failed(let failure): (.failed, nil, nil, nil, nil, failure)
        }
    }

    package init(_ result: StoreResult?, _ members: inout JSONMembers) throws(JSONError) {
        let parts = result?.parts
        switch try members("result", parts?.kind) {
        case .read: self = .read(try members("entries", parts?.entries))
        case .put: self = .put(revision: try members("revision", parts?.revision))
        case .conflict: self = .conflict(try members("entries", parts?.entries))
        case .list:
            let listed = try members("entries", parts?.listed)
            self = .list(listed, next: try members.orNull("next", parts?.next)?.bytes)
        case .removed: self = .removed
        case .failed: self = .failed(try RoleFailure(parts?.failure, &members, codesOf: "store_"))
        }
    }
}

extension StoreResult.Listed: JSONDocument {
    package init(_ listed: StoreResult.Listed?, _ members: inout JSONMembers) throws(JSONError) {
        key = try members("key", listed?.key)
        entry = try StoreEntry(listed?.entry, &members)
    }
}
