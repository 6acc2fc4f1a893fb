import CLinux
internal import Failures
internal import Glibc
package import SystemPackage

/// Identifies one state of one file: equal values mean the same file, not touched in between.
///
/// The times can stay the same over two writes within a clock tick of the kernel, 4 ms on many machines. If that matters, compare
/// the content too.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    /// Last change of the content; ``changed``: of the attributes. Nanoseconds since 1970.
    package let modified: Int64
    package let changed: Int64
}

/// A file's status, read without opening it.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case regular
        case directory
        case link
        case fifo
        case socket
        case device
    }

    package let kind: Kind
    package let owner: UInt32
    package let group: UInt32
    /// Permission, set-id and sticky bits.
    package let mode: UInt16
    /// How many names it has.
    package let links: Int
    package let identity: FileIdentity
    /// Something is mounted here: no rename can replace it.
    package let isMountPoint: Bool
    package let isImmutable: Bool
    let isAppendOnly: Bool

    package var size: Int { identity.size }

    package var isSticky: Bool { mode & 0o1000 != 0 }

    package var isSetGroupID: Bool { mode & 0o2000 != 0 }

    /// Whether a user other than the owner may write. A POSIX access list counts: the group's bits are its mask.
    var isWritableByOthers: Bool { mode & 0o022 != 0 }

    package func isSameFile(as other: FileStatus) -> Bool {
        identity.inode == other.identity.inode && identity.device == other.identity.device
    }

    /// The status of the target of `path`, links followed; nil when unreadable.
    package static func following(_ path: String) -> FileStatus? {
        try? look(at: path)?.get()
    }

    /// The same, or why not; nil if the file system does not respond.
    private static func look(at path: String) -> Result<FileStatus, Errno>? {
        DiskTimeout.value(at: path) {
            var found = clinux_status()
            let result = unsafe clinux_path_look_whole(path, &found)
            return result < 0 ? .failure(Errno(rawValue: -result)) : .success(FileStatus(found))
        }
    }

    /// Words that let a group read what is at `path`. Only users who may also enter a directory can read its files.
    ///
    /// - Returns: the verb, and the mode in octal.
    package static func forGroup(at path: String) -> (verb: String, mode: String) {
        following(path)?.kind == .directory ? ("enter and read", "0750") : ("read", "0640")
    }

    /// Whether a POSIX access list of the file or directory says more than its mode.
    package static func hasAccessList(_ path: String) -> Bool {
        DiskTimeout.value(at: path) { unsafe clinux_path_has_access_list(path) != 0 } ?? true
    }

    /// Whether nothing exists at this path, even with every link followed.
    package static func isAbsent(_ path: String) -> Bool {
        guard case .failure(let errno)? = look(at: path) else { return false }
        return [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(errno)
    }

    /// Why this process may not do this with the target of `path` (access(2)); nil if it may.
    package static func problem(accessing path: String, _ mode: Int32) -> Errno? {
        DiskTimeout.value(at: path) { unsafe access(path, mode) == 0 ? nil : Errno(rawValue: errno) } ?? .timedOut
    }

    /// - Parameter path: for the error.
    init(of descriptor: Int32, path: @autoclosure () -> String) throws(FileError) {
        var found = clinux_status()
        _ = try checked(unsafe clinux_path_look(descriptor, &found), path())
        self.init(found)
    }

    /// The status of a name, without using a descriptor: temporary files can be removed when there are none left.
    ///
    /// - Parameter isAsked: whether a network file system asks its server.
    init(
        of name: FilePath.Component, in directory: Int32, asServerKnows isAsked: Bool, path: @autoclosure () -> String
    ) throws(FileError) {
        var found = clinux_status()
        let result = unsafe name.withPlatformString {
            unsafe clinux_path_look_at(directory, $0, isAsked ? 1 : 0, &found)
        }
        _ = try checked(result, path())
        self.init(found)
    }

    init(_ found: clinux_status) {
        kind =
            switch found.mode & 0o170000 {
            case 0o100000: .regular
            case 0o040000: .directory
            case 0o120000: .link
            case 0o010000: .fifo
            case 0o140000: .socket
            default: .device
            }
        owner = found.owner
        group = found.group
        mode = UInt16(found.mode & 0o7777)
        links = Int(found.links)
        identity = FileIdentity(
            device: found.device, inode: found.inode, size: Int(clamping: found.size), modified: found.modified,
            changed: found.changed)
        isMountPoint = found.mount_root != 0
        isImmutable = found.immutable != 0
        isAppendOnly = found.append_only != 0
    }

    /// Throws for all but a regular file; the error says why.
    func requireRegular(_ path: @autoclosure () -> String) throws(FileError) {
        let what: String
        switch kind {
        case .regular: return
        case .directory: throw FileError(isMountPoint ? .isMountPoint : .isDirectory, at: path())
        case .link: throw FileError(.changedMeanwhile, at: path())
        case .fifo: what = "FIFO"
        case .socket: what = "socket"
        case .device: what = "device"
        }
        // Other programs need the device.
        throw FileError(
            .notARegularFile, at: path(), detail: what, remedy: kind == .device ? .say("write another path") : nil)
    }

    /// Throws for a file that was replaced between finding and opening. It may have several names, as in a snapshot by hard
    /// links: a rename gives only one of them to another file.
    func requireName(_ path: @autoclosure () -> String) throws(FileError) {
        if links == 0 { throw FileError(.changedMeanwhile, at: path()) }
    }
}
