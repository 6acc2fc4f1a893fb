import CLinux
internal import Failures
import SystemPackage

/// What a new file gets before its name is visible: group, mode, access list, user attributes and security label.
struct Attributes {
    /// From the settings; nil: copied from the file that is replaced.
    let mode: UInt16?
    let group: UInt32?
    /// Whether content of the file that is replaced stays: then only those may read it who could before.
    var keepsContent = false

    /// Without a setting or an old file: only the owner may read the secret.
    static let plainMode: UInt16 = 0o600

    /// The labels that decide access to a file. Other security attributes depend on the old content.
    private static let labels: Set<String> = ["security.selinux", "security.SMACK64"]

    /// - Parameters:
    ///   - fresh: the new file's status.
    ///   - source: the file that is replaced, open for reading, and its status; nil: there is none.
    ///   - path: the target's, for errors.
    func give(
        to descriptor: Int32, made fresh: FileStatus, from source: (descriptor: Int32, status: FileStatus)?,
        path: String
    ) throws(FileError) {
        // The group first: changing it clears set-id bits, and the mode must not let a wrong group read.
        if let wanted = group ?? source?.status.group, wanted != fresh.group {
            try setGroup(descriptor, wanted, of: fresh.owner, path)
        }
        if let source { try copyAttributes(from: source.descriptor, to: descriptor, path) }
        // Last, since with an access list the mode's group bits are its mask.
        var mode = (mode ?? source?.status.mode ?? Self.plainMode) & 0o777
        if keepsContent, let source { mode = try narrowed(mode, source, path) }
        _ = try checked(clinux_file_set_mode(descriptor, UInt32(mode)), path)
    }

    /// The mode without the rights of those who had none to the file that is replaced.
    private func narrowed(
        _ mode: UInt16, _ source: (descriptor: Int32, status: FileStatus), _ path: String
    ) throws(FileError) -> UInt16 {
        let found = source.status.mode & 0o777
        let mode = mode & found
        guard let group, group != source.status.group else { return mode }
        // It may keep members of either group out.
        if try AccessList(of: source.descriptor, path: path) != nil { return mode & 0o700 }
        // The new group was among the others, and the old group's members are now.
        return mode & 0o700 | mode & (found & 0o007) << 3 | mode & (found >> 3) & 0o007
    }

    private func setGroup(
        _ descriptor: Int32, _ wanted: UInt32, of owner: UInt32, _ path: String
    ) throws(FileError) {
        let result = clinux_file_set_group(descriptor, wanted)
        guard result < 0 else { return }
        let errno = Errno(rawValue: -result)
        // EINVAL: the user namespace does not map the group.
        guard errno == .notPermitted || errno == .invalidArgument else { throw FileError(of: errno, at: path) }
        throw FileError(
            .groupNotPermitted, at: path, errno: errno, detail: Owner.describe(group: wanted),
            remedy: Owner.joining(group: Owner.argument(group: wanted), user: owner))
    }

    private func copyAttributes(from source: Int32, to target: Int32, _ path: String) throws(FileError) {
        let old = ExtendedAttributes(of: source, path: path)
        let new = ExtendedAttributes(of: target, path: path)
        // The access list after the others: it can deny the owner the write access that setting those needs.
        for name in try old.names() where name.hasPrefix("user.") || Self.labels.contains(name) {
            try new.set(name, to: try old.value(name))
        }
        // Also when the old file has none: the directory's default list may have given the new file one.
        try new.set(AccessList.attribute, to: try old.value(AccessList.attribute))
    }
}

/// The extended attributes of an open file.
struct ExtendedAttributes {
    /// The bytes that Linux allows for one value, and for the list of names (XATTR_SIZE_MAX, XATTR_LIST_MAX).
    private static let sizeLimit = 65_536
    /// Enough for the access lists and labels that files usually have.
    private static let usualSize = 512

    private let descriptor: Int32
    private let path: String

    init(of descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// All visible names; none where the file system has no attributes.
    func names() throws(FileError) -> [String] {
        let list = unsafe try read { unsafe clinux_attribute_names(descriptor, $0, $1) }
        return (list ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Nil when there is none of this name.
    func value(_ name: String) throws(FileError) -> [UInt8]? {
        unsafe try read { unsafe clinux_attribute_get(descriptor, name, $0, $1) }
    }

    /// What `call` writes into a buffer of the size that it is given; nil where there is nothing or no support.
    private func read(_ call: (UnsafeMutablePointer<UInt8>?, Int) -> Int64) throws(FileError) -> [UInt8]? {
        // Few files have any: the largest buffer is made only where a small one was not enough.
        for size in [Self.usualSize, Self.sizeLimit] {
            var count: Int64 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, length in
                unsafe count = call(buffer.baseAddress, size)
                length = Int(max(0, count))
            }
            switch Errno(rawValue: Int32(truncatingIfNeeded: -count)) {
            case .outOfRange where size < Self.sizeLimit: continue
            case .noData, .notSupported: return nil
            default:
                _ = try checked(count, path)
                return bytes
            }
        }
        return nil
    }

    /// Sets a value; nil removes it. Does nothing if it is equal already: setting may be forbidden.
    func set(_ name: String, to value: [UInt8]?) throws(FileError) {
        let now = try self.value(name)
        guard now != value else { return }
        let result =
            if let value {
                unsafe clinux_attribute_set(descriptor, name, value, value.count)
            } else {
                unsafe clinux_attribute_remove(descriptor, name)
            }
        guard result < 0 else { return }
        let errno = Errno(rawValue: -result)
        switch errno {
        case .noSpace, .diskQuotaExceeded, .ioError, .noMemory, .readOnlyFileSystem:
            throw FileError(of: errno, at: path)
        default:
            throw FileError(.attributesNotKept, at: path, errno: errno, detail: name)
        }
    }
}

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
