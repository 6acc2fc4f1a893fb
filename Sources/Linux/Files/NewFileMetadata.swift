import CLinux
internal import Failures
import SystemPackage

/// The attributes that a new file gets before its name is visible: group, mode, access list, user attributes and security label.
struct NewFileMetadata {
    /// From the settings; nil: copied from the file that is replaced.
    let mode: UInt16?
    let group: UInt32?
    /// Whether content of the replaced file stays. Then only users that could read it before may read it.
    var keepsContent = false
    /// The readers that the access list is for; nil: the list is copied from the file that is replaced.
    var readers: FileReaders?

    /// Without a setting or an old file: only the owner may read the secret.
    static let plainMode: UInt16 = 0o600

    /// The labels that decide access to a file. Other security attributes depend on the old content.
    private static let labels: Set<String> = ["security.selinux", "security.SMACK64"]

    /// - Parameters:
    ///   - fresh: the new file's status.
    ///   - source: the file that is replaced, open for reading, and its status; nil: there is none.
    ///   - path: the target's path, shown in errors.
    func give(
        to descriptor: Int32, made fresh: FileStatus, from source: (descriptor: Int32, status: FileStatus)?,
        path: String
    ) throws(FileError) {
        // The group first: changing it clears set-id bits, and the mode must not let a wrong group read.
        if let wanted = group ?? source?.status.group, wanted != fresh.group {
            try setGroup(descriptor, wanted, of: fresh.owner, path)
        }
        if let source {
            try copyAttributes(from: source.descriptor, to: descriptor, path)
            // Never that of former readers, not even for a moment.
            if readers == nil { try copyAccessList(from: source.descriptor, to: descriptor, path) }
        } else {
            // The directory's default list may have given it one.
            try ExtendedAttributes(of: descriptor, path: path).set(AccessList.attribute, to: nil)
        }
        if let readers {
            try ExtendedAttributes(of: descriptor, path: path).set(AccessList.attribute, to: readers.list)
        }
        // Last, since with an access list the mode's group bits are its mask.
        var mode = (mode ?? source?.status.mode ?? Self.plainMode) & 0o777
        if keepsContent, let source { mode = try narrowed(mode, source, path) }
        _ = try checked(clinux_file_set_mode(descriptor, UInt32(mode)), path)
    }

    /// The mode without the rights of users that had none to the replaced file.
    private func narrowed(
        _ mode: UInt16, _ source: (descriptor: Int32, status: FileStatus), _ path: String
    ) throws(FileError) -> UInt16 {
        let hasOtherGroup = group.map { $0 != source.status.group } ?? false
        // It may keep members of either group out.
        if hasOtherGroup, try AccessList(of: source.descriptor, path: path) != nil {
            return mode & source.status.mode & 0o700
        }
        return source.status.mode(keepingContentAs: mode, group: group)
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
        for name in try old.names() where name.hasPrefix("user.") || Self.labels.contains(name) {
            try new.set(name, to: try old.value(name))
        }
    }

    /// After the other attributes: it can deny the owner the write access that setting those needs.
    private func copyAccessList(from source: Int32, to target: Int32, _ path: String) throws(FileError) {
        let list = try ExtendedAttributes(of: source, path: path).value(AccessList.attribute)
        // Also when the old file has none: the directory's default list may have given the new file one.
        try ExtendedAttributes(of: target, path: path).set(AccessList.attribute, to: list)
    }
}

extension FileStatus {
    /// The mode of a file without an access list after a write that keeps content of it. Users without rights to the old file get
    /// none.
    ///
    /// - Parameters:
    ///   - wanted: the mode from the settings; nil: unchanged.
    ///   - group: the group from the settings; nil: unchanged.
    package func mode(keepingContentAs wanted: UInt16?, group: UInt32?) -> UInt16 {
        let found = mode & 0o777
        let mode = (wanted ?? found) & found
        guard let group, group != self.group else { return mode }
        // The new group was among the others, and the old group's members are now.
        return mode & 0o700 | mode & (found & 0o007) << 3 | mode & (found >> 3) & 0o007
    }
}
