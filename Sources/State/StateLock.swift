internal import Failures
internal import Linux
internal import Model
internal import SystemPackage

/// The lock that there is one daemon for each state directory: held as long as the process runs, also while the
/// directory cannot be used.
///
/// It is that of the directory's file `lock`. Where that cannot be made or written it is a spare one, of what can be opened
/// there, so that a second daemon of the same configuration still ends. There is none if nothing can be.
package final class StateLock: Sendable {
    private struct Held {
        let path: AbsolutePath
        let isOfFile: Bool
        let file: HeldFile
    }

    private let held = QuietMutex<Held?>(nil)

    /// Holds none yet.
    package init() {}

    /// Whether the path still leads to what is locked. One system call.
    var isInPlace: Bool { held.withLock { $0?.file.isInPlace == true } }

    /// Locks the file of a directory that can be used, unless it is held already; then lets go of what was held before.
    ///
    /// Throws an error of ``Errno/wouldBlock`` where another daemon holds it.
    func take(_ path: AbsolutePath) throws(FileError) {
        try held.withLock { held throws(FileError) in
            if let held, held.path == path, held.isOfFile, held.file.isInPlace { return }
            let file = "\(path)/lock"
            guard let lock = try FileLock.take(file) else {
                throw FileError(.systemError, at: path.description, errno: .wouldBlock)
            }
            held = Held(path: path, isOfFile: true, file: try HeldFile(lock, at: file))
        }
    }

    /// Locks what can be opened of a directory that cannot be used, unless a lock of that path is held already.
    ///
    /// Throws as ``take(_:)`` does. A lock that a stranger holds, who may open the directory, keeps no daemon from running.
    func takeSpare(_ path: AbsolutePath, as identity: Identity) throws(FileError) {
        try held.withLock { held throws(FileError) in
            if held?.path == path { return }
            for (place, isOfFile) in [("\(path)/lock", true), (path.description, false)] {
                do throws(FileError) {
                    if let lock = try isOfFile ? FileLock.takeFile(place) : FileLock.takeDirectory(place) {
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
