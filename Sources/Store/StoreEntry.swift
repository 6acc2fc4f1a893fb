package import AppleClientSecret

/// The content of a key of the store when it was read.
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
}

extension StoreEntry: JSONDocument {
    private enum State: String, JSONString {
        case missing, value, forbidden
        case tooLong = "too_long"
    }

    private var parts: (state: State, value: Base64Bytes?, revision: Int64?) {
        switch self {
        case .missing: (.missing, nil, nil)
        case .value(let bytes, let revision): (.value, Base64Bytes(bytes), revision)
        case .tooLong(let revision): (.tooLong, nil, revision)
        case .forbidden: (.forbidden, nil, nil)
        }
    }

    package init(_ entry: StoreEntry?, _ members: inout JSONMembers) throws(JSONError) {
        let parts = entry?.parts
        switch try members("state", parts?.state) {
        case .missing: self = .missing
        case .value:
            let bytes = try members("value", parts?.value).bytes
            self = .value(bytes, revision: try members("revision", parts?.revision))
        case .tooLong: self = .tooLong(revision: try members("revision", parts?.revision))
        case .forbidden: self = .forbidden
        }
    }
}
