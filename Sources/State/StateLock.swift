internal import Failures
internal import Linux
internal import Model
internal import SystemPackage

/// The lock that there is one daemon for each state directory: held as long as the process runs, also while the
/// directory cannot be used.
///
/// It is that of the directory's file `lock`. If that cannot be created or written, a spare lock on something that can be opened
/// there is used. So a second daemon of the same configuration still ends. There is none if nothing can be opened.
package final class StateLock: Sendable {
    private struct Held {
        let path: AbsolutePath
        let isOfFile: Bool
        let file: HeldFile
    }

    private let held = QuietMutex<Held?>(nil)

    /// How long a lock may outlive its holder, in milliseconds. A child that was between fork and exec when the holder was killed
    /// keeps it until exec.
    private static let timeout: Int64 = 2_000

    /// Holds none yet.
    package init() {}

    /// Whether the path still leads to the locked file. One system call.
    var isInPlace: Bool { held.withLock { $0?.file.isInPlace == true } }

    /// Locks the file of a usable directory, unless it is held already; then releases the lock that was held before.
    ///
    /// Throws an error of ``Errno/wouldBlock`` if another daemon holds it.
    func take(_ path: AbsolutePath) throws(FileError) {
        try held.withLock { held throws(FileError) in
            if let held, held.path == path, held.isOfFile, held.file.isInPlace { return }
            let file = "\(path)/lock"
            guard let lock = try FileLock.take(file, waiting: Self.timeout) else {
                throw FileError(.systemError, at: path.description, errno: .wouldBlock)
            }
            held = Held(path: path, isOfFile: true, file: try HeldFile(lock, at: file))
        }
    }

    /// Locks any part of an unusable directory that can be opened, unless a lock of that path is held already.
    ///
    /// Throws as ``take(_:)`` does. A stranger that may open the directory and holds the lock keeps no daemon from running.
    func takeSpare(_ path: AbsolutePath, as identity: Identity) throws(FileError) {
        try held.withLock { held throws(FileError) in
            if held?.path == path { return }
            for (place, isOfFile) in [("\(path)/lock", true), (path.description, false)] {
                do throws(FileError) {
                    if let lock = try isOfFile
                        ? FileLock.takeFile(place, waiting: Self.timeout)
                        : FileLock.takeDirectory(place, waiting: Self.timeout)
                    {
                        held = Held(path: path, isOfFile: isOfFile, file: try HeldFile(lock, at: place))
                        return
                    }
                } catch { continue }
                guard FileLock.isHeld(place, by: identity) else { return }
                throw FileError(.systemError, at: path.description, errno: .wouldBlock)
            }
        }
    }
}
