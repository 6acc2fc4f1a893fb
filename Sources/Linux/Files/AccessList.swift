import CLinux
internal import Failures
import SystemPackage

/// A file's POSIX access list, in the kernel's form (`struct posix_acl_xattr_header` and its entries).
struct AccessList {
    static let attribute = "system.posix_acl_access"
    /// A directory's default list, for new files in it.
    static let defaultAttribute = "system.posix_acl_default"

    private enum Tag: UInt16 {
        case owner = 0x01
        case user = 0x02
        case owningGroup = 0x04
        case group = 0x08
        case mask = 0x10
        case other = 0x20
    }

    private var entries: [(tag: Tag, rights: UInt16, id: UInt32)] = []

    /// Nil when the file has none beyond its mode, or its file system supports none.
    init?(of descriptor: Int32, path: String) throws(FileError) {
        guard let bytes = try ExtendedAttributes(of: descriptor, path: path).value(Self.attribute) else { return nil }
        func number(_ offset: Int, _ width: Int) -> UInt32 {
            bytes[offset..<offset + width].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let unknown = FileError(.systemError, at: path, detail: "its access list is of an unknown form")
        guard bytes.count >= 4, (bytes.count - 4).isMultiple(of: 8), number(0, 4) == 2 else { throw unknown }
        for offset in stride(from: 4, to: bytes.count, by: 8) {
            guard let tag = Tag(rawValue: UInt16(number(offset, 2))) else { throw unknown }
            entries.append((tag, UInt16(number(offset + 2, 2)), number(offset + 4, 4)))
        }
    }

    /// The list, in the kernel's form, of a file that all users with `right` here may read, and that only its owner may change.
    func bytes(ofReadersWith right: UInt16) -> [UInt8] {
        let mask = entries.first { $0.tag == .mask }?.rights ?? 7
        func littleEndian(_ number: UInt32, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
        }
        return littleEndian(2, 4)
            + entries.flatMap { tag, rights, id -> [UInt8] in
                let given: UInt32 =
                    switch tag {
                    case .owner: 6
                    case .mask: 4
                    case .user, .owningGroup, .group: rights & mask & right == 0 ? 0 : 4
                    case .other: rights & right == 0 ? 0 : 4
                    }
                return littleEndian(UInt32(tag.rawValue), 2) + littleEndian(given, 2) + littleEndian(id, 4)
            }
    }

    /// A user or group with rights that it is not to have.
    struct Stranger {
        /// The user or group, in words.
        let words: String
        let mayRead: Bool
        let mayWrite: Bool
        /// For setfacl(1); nil for the file's own group, whose entry cannot be removed.
        let entry: String?

        /// The words for it in the message.
        var detail: String { "its access list lets \(words) \(mayWrite ? "write to it" : "read it")" }
    }

    /// The users and groups that the list gives rights to which only trusted users may have.
    ///
    /// - Parameter readersToo: whether only trusted users and the groups that may read keys may read it; else all users may.
    func strangers(to identity: Identity, group owningGroup: UInt32, readersToo: Bool) -> [Stranger] {
        let mask = entries.first { $0.tag == .mask }?.rights ?? 7
        return entries.compactMap { entry in
            func stranger(_ words: String, _ name: String?, mayRead: Bool) -> Stranger? {
                let rights = entry.rights & mask
                let mayWrite = rights & 2 != 0
                guard mayWrite || rights & 4 != 0 && readersToo && !mayRead else { return nil }
                return Stranger(words: words, mayRead: rights & 4 != 0, mayWrite: mayWrite, entry: name)
            }
            switch entry.tag {
            case .user where !identity.trusts(entry.id):
                return stranger("the user \(Owner.describe(user: entry.id))", "u:\(entry.id)", mayRead: false)
            case .group:
                return stranger(
                    "the group \(Owner.describe(group: entry.id))", "g:\(entry.id)",
                    mayRead: identity.mayReadKeys(entry.id))
            case .owningGroup:
                return stranger(
                    "the group \(Owner.describe(group: owningGroup))", nil, mayRead: identity.mayReadKeys(owningGroup))
            default: return nil
            }
        }
    }
}

extension FileStatus {
    /// The mode's bits that give rights to others. With an access list, the group's are its mask. Only the list itself shows the
    /// rights of users and groups.
    func othersMode(with list: AccessList?) -> UInt16 { mode & (list == nil ? 0o077 : 0o007) }
}
