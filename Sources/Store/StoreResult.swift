package import AppleClientSecret
package import Failures

/// The result of a ``StoreRequest``: one JSON object on one line.
package enum StoreResult: Equatable, Sendable {
    /// What the keys hold, in the order they were named in.
    case read([StoreEntry])
    /// The keys hold the values now, or held them already, at this revision.
    case put(revision: Int64)
    /// Nothing was put, because one of the keys was changed at another revision than expected: what each of them holds.
    case conflict([StoreEntry])
    /// A page of keys, ``mostListed`` at most, and where the next one begins; nil for the last one.
    case list([Listed], next: [UInt8]?)
    /// The key is gone, or was changed at another revision.
    case removed
    case failed(RoleFailure)

    /// A key of a page, and what it holds.
    package struct Listed: Hashable, Sendable {
        package let key: StoreKey
        package let entry: StoreEntry

        package init(_ key: StoreKey, _ entry: StoreEntry) {
            self.key = key
            self.entry = entry
        }
    }

    /// Of one page: most have some hundred bytes, and 1 MiB is taken of etcd's answer.
    static let mostListed = 256

    /// The line without its end.
    package var answer: JSONText { .object(members) }

    private var members: [(String, JSONText)] {
        switch self {
        case .read(let entries): [("result", .string("read")), ("entries", Self.json(entries))]
        case .put(let revision): [("result", .string("put")), ("revision", .number(Int(revision)))]
        case .conflict(let entries): [("result", .string("conflict")), ("entries", Self.json(entries))]
        case .list(let listed, let next):
            [
                ("result", .string("list")),
                (
                    "entries",
                    .array(listed.map { .object([("key", .string($0.key.description))] + $0.entry.members) })
                ),
                ("next", .text(next.map(Base64.encode))),
            ]
        case .removed: [("result", .string("removed"))]
        case .failed(let failure):
            [
                ("result", .string("failed")), ("code", .string(failure.code.rawValue)),
                ("detail", .text(failure.detail)), ("retry_after", failure.retryAfter.map(JSONText.number) ?? .null),
            ]
        }
    }

    private static func json(_ entries: [StoreEntry]) -> JSONText { .array(entries.map { .object($0.members) }) }

    /// Reads an ``answer``; nil for anything else.
    init?(_ json: JSONValue) {
        let values = json["entries"]?.elements ?? []
        let entries = values.compactMap { StoreEntry($0) }
        switch json["result"]?.text {
        case "read" where entries.count == values.count: self = .read(entries)
        case "put":
            guard let revision = json["revision"]?.whole else { return nil }
            self = .put(revision: revision)
        case "conflict" where entries.count == values.count: self = .conflict(entries)
        case "list" where entries.count == values.count:
            let keys = values.compactMap { $0["key"]?.text.flatMap(StoreKey.init) }
            let next = json["next"]?.text.flatMap { Base64.decode($0) }
            guard keys.count == entries.count, keys.count <= Self.mostListed, json["next"] == .null || next != nil
            else {
                return nil
            }
            self = .list(zip(keys, entries).map { Listed($0, $1) }, next: next)
        case "removed": self = .removed
        case "failed":
            guard let code = json["code"]?.text.flatMap(FailureCode.init), code.rawValue.hasPrefix("store_") else {
                return nil
            }
            self = .failed(
                RoleFailure(
                    code, json["detail"]?.text, retryAfter: json["retry_after"]?.whole.map { Int(clamping: $0) }))
        default: return nil
        }
    }
}
