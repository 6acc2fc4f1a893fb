import CLinux
internal import Failures
internal import Glibc
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

    /// Makes all names durable that were added, changed and removed in it before the call.
    ///
    /// - Parameter file: a file in it.
    func sync(by file: Int32) throws(FileError) {
        // `descriptor` is only an O_PATH handle.
        let raw = clinux_path_open_directory(descriptor.raw)
        if Errno(rawValue: -raw) == .permissionDenied {
            // A directory that is writable but not readable cannot be opened: its whole file system is synced.
            _ = try checked(clinux_file_sync_all(file), path.string)
            return
        }
        let listed = Descriptor(adopting: try checked(raw, path.string))
        _ = try checked(clinux_file_sync(listed.raw), path.string)
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
        guard let stream = unsafe fdopendir(listed) else {
            let error = FileError(of: Errno(rawValue: errno), at: path.string)
            close(listed)
            throw error
        }
        defer { unsafe closedir(stream) }
        var names: [FilePath.Component] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw FileError(of: Errno(rawValue: errno), at: path.string) }
                return names
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
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
