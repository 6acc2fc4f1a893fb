import CLinux
import SystemPackage

/// What a new file gets before anybody sees its name: group, mode, access list, user attributes and security label.
struct Attributes {
    /// From the settings; nil: as the file that is replaced has it.
    let mode: UInt16?
    let group: UInt32?

    /// With nobody to ask, only the owner may read what holds a secret.
    static let plainMode: UInt16 = 0o600

    /// The labels that say who may do what with a file. Other security attributes are seals over its content.
    private static let labels: Set<String> = ["security.selinux", "security.SMACK64"]

    /// - Parameters:
    ///   - fresh: the new file's status.
    ///   - source: the file that is replaced, open for reading, and its status; nil: there is none.
    ///   - path: the target's, for errors.
    func give(
        to descriptor: Int32, made fresh: FileStatus, from source: (descriptor: Int32, status: FileStatus)?,
        path: String
    ) throws(FileError) {
        // The group first: changing it takes set-id bits away, and the mode must not let a wrong group read.
        if let wanted = group ?? source?.status.group, wanted != fresh.group {
            try setGroup(descriptor, wanted, of: fresh.owner, path)
        }
        if let source { try copyAttributes(from: source.descriptor, to: descriptor, path) }
        // Last, since with an access list the group's bits are its mask.
        let mode = (mode ?? source?.status.mode ?? Self.plainMode) & 0o777
        _ = try checked(clinux_file_set_mode(descriptor, UInt32(mode)), path)
    }

    private func setGroup(
        _ descriptor: Int32, _ wanted: UInt32, of owner: UInt32, _ path: String
    ) throws(FileError) {
        let result = clinux_file_set_group(descriptor, wanted)
        guard result < 0 else { return }
        let errno = Errno(rawValue: -result)
        // A group that a user namespace does not map is an invalid argument.
        guard errno == .notPermitted || errno == .invalidArgument else { throw FileError(of: errno, at: path) }
        throw FileError(
            .groupNotPermitted, at: path, errno: errno, detail: Owner.describe(group: wanted),
            remedy: Owner.joining(group: Owner.argument(group: wanted), user: owner))
    }

    private func copyAttributes(from source: Int32, to target: Int32, _ path: String) throws(FileError) {
        let old = ExtendedAttributes(of: source, path: path)
        let new = ExtendedAttributes(of: target, path: path)
        // The access list after the others: it can take from the owner the right to write, which those need.
        for name in try old.names() where name.hasPrefix("user.") || Self.labels.contains(name) {
            try new.set(name, to: try old.value(name))
        }
        // Also when the old file has none: a directory's default list has given the new one some already.
        try new.set(AccessList.attribute, to: try old.value(AccessList.attribute))
    }
}
