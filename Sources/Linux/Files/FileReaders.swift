import Glibc

/// The users who may read a file, as its mode, group and access list have it. The owner always may.
package struct FileReaders: Hashable, Sendable {
    /// The permission bits of a file that they may read and only its owner may change.
    let mode: UInt16
    /// Nil: the members of its group count like all others, whichever group it is.
    let group: UInt32?
    /// The access list in the kernel's form; nil: mode and group are enough.
    let list: [UInt8]?

    init(mode: UInt16, group: UInt32?, list: [UInt8]? = nil) {
        self.mode = mode
        self.group = group
        self.list = list
    }

    package static let owner = FileReaders(mode: 0o600, group: nil)
    /// Of a file that belongs to root, whose group is root's too.
    package static let everyone = FileReaders(mode: 0o644, group: 0)

    package static func members(of group: UInt32) -> FileReaders { FileReaders(mode: 0o640, group: group) }

    /// The users who may read the file at a real path, or who may go through the directory there. Nil if they are not known. Blocks.
    package init?(of path: String) {
        let found = DiskTimeout.value(at: path) { Self.look(at: path) }
        guard let found = found ?? nil else { return nil }
        self = found
    }

    private static func look(at path: String) -> FileReaders? {
        let raw = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let handle = Descriptor(adopting: raw)
        do throws(FileError) {
            let status = try FileStatus(of: handle.raw, path: path)
            // To read a file, or to search a directory.
            let right: UInt16 = status.kind == .directory ? 1 : 4
            if let list = try AccessList(of: handle.raw, path: path) {
                let others: UInt16 = status.mode & right == 0 ? 0 : 0o004
                return FileReaders(
                    mode: 0o640 | others, group: status.group, list: list.bytes(ofReadersWith: right))
            }
            return FileReaders(status, right)
        } catch {
            return nil
        }
    }

    private init(_ status: FileStatus, _ right: UInt16) {
        let isForGroup = status.mode & right << 3 != 0
        let isForOthers = status.mode & right != 0
        if isForGroup == isForOthers {
            self = isForOthers ? .everyone : .owner
        } else {
            self.init(mode: isForGroup ? 0o640 : 0o604, group: status.group)
        }
    }

    /// The users who are among the readers of all of these; nil if no single mode and access list names exactly these users.
    package static func common(to all: some Collection<FileReaders>) -> FileReaders? {
        let narrow = Set(all).subtracting([.everyone])
        if narrow.contains(.owner) { return .owner }
        guard let first = narrow.first else { return .everyone }
        return narrow.count == 1 ? first : nil
    }
}
