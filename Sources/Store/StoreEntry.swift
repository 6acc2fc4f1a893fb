import AppleClientSecret

/// What a key of the store held when it was read.
package enum StoreEntry: Hashable, Sendable {
    /// There is no such key in etcd.
    case missing
    /// The value, at this revision of the key.
    case value([UInt8], revision: Int64)
    /// A value of more than ``longest`` bytes, at this revision of the key.
    case tooLong(revision: Int64)
    /// The role of this machine's user does not include the key.
    case forbidden

    /// The longest value that is read or put, in bytes.
    package static let longest = 16_384

    init(_ entry: EtcdAnswer.Entry?) {
        guard let entry else {
            self = .missing
            return
        }
        self =
            entry.value.count <= Self.longest
            ? .value(entry.value, revision: entry.revision) : .tooLong(revision: entry.revision)
    }

    /// The members of a JSON object.
    var members: [(String, JSONText)] {
        switch self {
        case .missing: [("state", .string("missing"))]
        case .forbidden: [("state", .string("forbidden"))]
        case .tooLong(let revision): [("state", .string("too_long")), ("revision", .number(Int(revision)))]
        case .value(let bytes, let revision):
            [
                ("state", .string("value")), ("value", .string(Base64.encode(bytes))),
                ("revision", .number(Int(revision))),
            ]
        }
    }

    /// Reads an object with ``members``; nil for anything else.
    init?(_ json: JSONValue) {
        let revision = json["revision"]?.whole
        switch (json["state"]?.text, revision) {
        case ("missing", nil): self = .missing
        case ("forbidden", nil): self = .forbidden
        case ("too_long", let revision?): self = .tooLong(revision: revision)
        case ("value", let revision?):
            guard let bytes = json["value"]?.text.flatMap({ Base64.decode($0) }), bytes.count <= Self.longest else {
                return nil
            }
            self = .value(bytes, revision: revision)
        default: return nil
        }
    }
}
