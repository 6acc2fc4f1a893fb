import CLinux
internal import Failures
import SystemPackage

/// A file's POSIX access list, in the kernel's form (`struct posix_acl_xattr_header` and its entries).
struct AccessList {
    static let attribute = "system.posix_acl_access"

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
        guard bytes.count >= 4, (bytes.count - 4).isMultiple(of: 8), number(0, 4) == 2 else {
            throw FileError(.systemError, at: path, detail: "its access list is of an unknown form")
        }
        for offset in stride(from: 4, to: bytes.count, by: 8) {
            guard let tag = Tag(rawValue: UInt16(number(offset, 2))) else {
                throw FileError(.systemError, at: path, detail: "its access list is of an unknown form")
            }
            entries.append((tag, UInt16(number(offset + 2, 2)), number(offset + 4, 4)))
        }
    }

    /// The users and groups that the list lets read the file and that are not trusted to read keys, in words and as an
    /// entry for setfacl(1), which the file's own group has none of.
    func otherReaders(than identity: Identity, group owningGroup: UInt32) -> [(words: String, entry: String?)] {
        let mask = entries.first { $0.tag == .mask }?.rights ?? 7
        return entries.compactMap { entry in
            guard entry.rights & mask & 4 != 0 else { return nil }
            switch entry.tag {
            case .user where !identity.trusts(entry.id):
                return ("the user \(Owner.describe(user: entry.id))", "u:\(entry.id)")
            case .group where !identity.mayReadKeys(entry.id):
                return ("the group \(Owner.describe(group: entry.id))", "g:\(entry.id)")
            case .owningGroup where !identity.mayReadKeys(owningGroup):
                return ("the group \(Owner.describe(group: owningGroup))", nil)
            default: return nil
            }
        }
    }
}
