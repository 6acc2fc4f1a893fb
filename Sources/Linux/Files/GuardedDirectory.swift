import CLinux
import SystemPackage

/// A directory that a walk has reached and holds open, with those above it that it came through.
///
/// What is done below it goes through the descriptor, so it does not matter what happens to the path meanwhile.
final class GuardedDirectory: Sendable {
    let descriptor: Descriptor
    let status: FileStatus
    let path: FilePath
    let above: GuardedDirectory?
    let depth: Int
    private let batched = BatchedSync()
    /// The directory, opened to be synced: what a walk has come to is only a handle on it.
    private let listed = QuietMutex<Descriptor?>(nil)

    /// More directories than this below one another are refused: each one holds a descriptor while the walk lasts.
    static let depthLimit = 128

    init(_ descriptor: consuming Descriptor, status: FileStatus, path: FilePath, above: GuardedDirectory?) {
        self.descriptor = descriptor
        self.status = status
        self.path = path
        self.above = above
        depth = (above?.depth ?? 0) + 1
    }

    /// Says that a name in it is about to be given or changed, which ``sync(by:of:)`` will make durable.
    func announceChange() -> BatchedSync.Announcement { batched.announce() }

    /// Makes the names durable that were given, changed and taken away in it before the call.
    ///
    /// - Parameters:
    ///   - file: one that lies in it.
    ///   - change: what was announced and is done now.
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
                // A directory that may be written to but not read cannot be opened: its whole file system is synced.
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
        above == nil && path.length == 1 ? path.string + name.string : path.string + "/" + name.string
    }

    /// A handle on what has this name; nil when nothing has.
    func step(to name: FilePath.Component) throws(FileError) -> Descriptor? {
        let raw = unsafe name.withPlatformString { unsafe clinux_path_step(descriptor.raw, $0, 0) }
        guard Errno(rawValue: -raw) != .noSuchFileOrDirectory else { return nil }
        return Descriptor(adopting: try checked(raw, path(of: name)))
    }

    /// What has this name now; nil when nothing has.
    func status(of name: FilePath.Component) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try FileStatus(of: name, in: descriptor.raw, path: path(of: name))
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Removes what has this name. Returns whether that is gone.
    @discardableResult
    func remove(_ name: FilePath.Component) -> Bool {
        unsafe name.withPlatformString { unsafe clinux_path_remove(descriptor.raw, $0) } == 0
    }

    /// The names in it but for `.` and `..`, in no order.
    ///
    /// - Parameter limit: more than this many are refused.
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
