import CLinux
import SystemPackage

/// A directory that a walk has reached and holds open, with those above it.
///
/// What is done below it goes through the descriptor, so it does not matter what happens to the path meanwhile.
final class GuardedDirectory: Sendable {
    let descriptor: Descriptor
    let status: FileStatus
    let path: FilePath
    let above: GuardedDirectory?
    let depth: Int

    /// More directories than this below one another are refused: each one holds a descriptor while the walk lasts.
    static let depthLimit = 128

    init(_ descriptor: consuming Descriptor, status: FileStatus, path: FilePath, above: GuardedDirectory?) {
        self.descriptor = descriptor
        self.status = status
        self.path = path
        self.above = above
        depth = (above?.depth ?? 0) + 1
    }

    /// A handle on what has this name; nil when nothing has.
    func step(to name: FilePath.Component) throws(FileError) -> Descriptor? {
        let raw = unsafe name.withPlatformString { unsafe clinux_path_step(descriptor.raw, $0, 0) }
        guard Errno(rawValue: -raw) != .noSuchFileOrDirectory else { return nil }
        return Descriptor(adopting: try checked(raw, path.appending(name).string))
    }

    /// What has this name now; nil when nothing has.
    func status(of name: FilePath.Component) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try FileStatus(of: name, in: descriptor.raw, path: path.appending(name).string)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// What has this name is removed, whatever the outcome.
    func remove(_ name: FilePath.Component) {
        _ = unsafe name.withPlatformString { unsafe clinux_path_remove(descriptor.raw, $0) }
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
