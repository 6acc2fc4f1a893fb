import CLinux
internal import Failures
import SystemPackage

/// A directory that a walk has reached and holds open, with those above it that it came through.
///
/// Operations below it use the descriptor, so later changes of the path do not matter.
final class GuardedDirectory: Sendable {
    let descriptor: Descriptor
    let status: FileStatus
    let path: FilePath
    /// The same as text, which each file's path begins with.
    private let text: String
    let above: GuardedDirectory?
    let depth: Int
    private let batched = BatchedSync()
    /// The directory, opened to be synced: `descriptor` is only an O_PATH handle.
    private let listed = QuietMutex<Descriptor?>(nil)

    /// Directories below one another, at most: each one holds a descriptor while the walk lasts.
    static let depthLimit = 128

    init(_ descriptor: consuming Descriptor, status: FileStatus, path: FilePath, above: GuardedDirectory?) {
        self.descriptor = descriptor
        self.status = status
        self.path = path
        text = path.string
        self.above = above
        depth = (above?.depth ?? 0) + 1
    }

    /// Announces that a name in it is about to change, which ``sync(by:of:)`` will make durable.
    func announceChange() -> BatchedSync.Announcement { batched.announce() }

    /// Makes all names durable that were added, changed and removed in it before the call.
    ///
    /// - Parameters:
    ///   - file: a file in it.
    ///   - change: the announcement, which ends here.
    func sync(by file: Int32, of change: consuming BatchedSync.Announcement) throws(FileError) {
        _ = consume change
        try batched { () throws(FileError) in
            try listed.withLock { listed throws(FileError) in try syncAlone(&listed, by: file) }
        }
    }

    private func syncAlone(_ listed: inout Descriptor?, by file: Int32) throws(FileError) {
        if listed == nil {
            let raw = clinux_path_open_directory(descriptor.raw)
            if Errno(rawValue: -raw) == .permissionDenied {
                // A directory that is writable but not readable cannot be opened: its whole file system is synced.
                _ = try checked(clinux_file_sync_all(file), path.string)
                return
            }
            listed = Descriptor(adopting: try checked(raw, path.string))
        }
        let raw =
            switch listed {
            case .some(let listed): listed.raw
            case .none: -Errno.badFileDescriptor.rawValue
            }
        _ = try checked(clinux_file_sync(raw), path.string)
    }

    /// The path of this name in the directory.
    func path(of name: FilePath.Component) -> String {
        above == nil && path.length == 1 ? text + name.string : text + "/" + name.string
    }

    /// A handle on this name's file; nil when there is none.
    func step(to name: FilePath.Component) throws(FileError) -> Descriptor? {
        let raw = unsafe name.withPlatformString { unsafe clinux_path_step(descriptor.raw, $0, 0) }
        guard Errno(rawValue: -raw) != .noSuchFileOrDirectory else { return nil }
        return Descriptor(adopting: try checked(raw, path(of: name)))
    }

    /// The status of this name; nil when there is none.
    ///
    /// - Parameter isAsked: whether a network file system asks its server, and does not answer from memory.
    func status(of name: FilePath.Component, asServerKnows isAsked: Bool = false) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try FileStatus(of: name, in: descriptor.raw, asServerKnows: isAsked, path: path(of: name))
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Removes the file of this name. Returns whether it is gone.
    @discardableResult
    func remove(_ name: FilePath.Component) -> Bool {
        unsafe name.withPlatformString { unsafe clinux_path_remove(descriptor.raw, $0) } == 0
    }

    /// The names in it except `.` and `..`, in no order.
    ///
    /// - Parameter limit: throws if there are more.
    func names(limit: Int) throws(FileError) -> [FilePath.Component] {
        let listed = try checked(clinux_path_open_directory(descriptor.raw), path.string)
        var stream: UnsafeMutableRawPointer?
        _ = try checked(unsafe clinux_names_open(listed, &stream), path.string)
        defer { unsafe clinux_names_close(stream) }
        var names: [FilePath.Component] = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let length = unsafe buffer.withUnsafeMutableBytes { unsafe clinux_names_next(stream, $0.baseAddress) }
            guard try checked(length, path.string) > 0 else { return names }
            buffer[Int(length)] = 0
            let name = unsafe buffer.withUnsafeBytes { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                    unsafe text.baseAddress.flatMap { unsafe FilePath.Component(platformString: $0) }
                }
            }
            guard let name, name.kind == .regular else { continue }
            guard names.count < limit else {
                throw FileError(.systemError, at: path.string, detail: "it holds more than \(limit) files")
            }
            names.append(name)
        }
    }
}

/// The directories that were walked to within the last second, so that ten thousand files written at once into one
/// directory do not each walk the whole path to it.
///
/// It holds no directory open, so that an idle process keeps no file system from being unmounted.
package final class SharedDirectories: Sendable {
    private struct Way: Hashable {
        let path: String
        let identity: Identity
    }

    private struct Entry {
        let status: FileStatus
        let walkedAt: Int64
        /// Set while a job holds it: jobs that share it share its syncs, too.
        weak var directory: GuardedDirectory?
    }

    /// How long a walk's checks of the directories on the way stay valid (milliseconds). Each use checks again that the
    /// path ends in the same directory, with nothing changed that the rules judge.
    private static let trustedFor: Int64 = 1_000

    private let entries = QuietMutex<[Way: Entry]>([:])

    package init() {}

    /// The directory of this path, if it was walked to just now and the path, without any link, still leads there.
    func directory(_ path: String, as identity: Identity) -> GuardedDirectory? {
        let way = Way(path: path, identity: identity)
        guard let entry = entries.withLock({ $0[way] }), Clocks.bootMilliseconds() - entry.walkedAt < Self.trustedFor
        else { return nil }
        if let held = entry.directory {
            return FileStatus.following(way.path)?.isJudgedLike(entry.status) == true ? held : nil
        }
        let raw = unsafe clinux_path_open_whole(path)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(adopting: raw)
        guard let status = try? FileStatus(of: descriptor.raw, path: way.path), status.isJudgedLike(entry.status) else {
            return nil
        }
        let directory = GuardedDirectory(descriptor, status: status, path: FilePath(path), above: nil)
        return entries.withLock { entries in
            // Another thread may have opened it meanwhile.
            if let held = entries[way]?.directory { return held }
            entries[way]?.directory = directory
            return directory
        }
    }

    /// Records a directory that a walk without links has just reached.
    func note(_ directory: GuardedDirectory, as identity: Identity) {
        let now = Clocks.bootMilliseconds()
        let entry = Entry(status: directory.status, walkedAt: now, directory: directory)
        entries.withLock { entries in
            entries = entries.filter { now - $0.value.walkedAt < Self.trustedFor }
            entries[Way(path: directory.path.string, identity: identity)] = entry
        }
    }
}
