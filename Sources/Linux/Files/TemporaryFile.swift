import CLinux
internal import Failures
import Glibc
import SystemPackage

/// A file under a name that cannot be guessed, which will replace another; removed with this value if it does not.
///
/// It is locked as long as it is open. So sweeps, of this process or another, can distinguish it from one that a killed process
/// left.
///
/// A name is taken durably or not at all: when the directory cannot be synced, the name goes back to the file that had it.
/// Otherwise the next attempt would find the new content there and treat it as published.
struct TemporaryFile: ~Copyable {
    let directory: GuardedDirectory
    let name: FilePath.Component
    let descriptor: Descriptor
    /// The file's status when it was created.
    let made: FileStatus
    /// The file that may be removed under this name; nil: there is none.
    private var own: FileStatus?

    /// The mode until it gets its own one: no other user may read the content.
    private static let mode: UInt32 = 0o600

    /// Attempts to put a file back; each needs another process to have renamed within the microseconds before.
    private static let roundLimit = 64

    /// Throws ``FileError/Kind/changedMeanwhile`` when a sweep took the file before it was locked.
    init(for target: FilePath.Component, in directory: GuardedDirectory, naming: TemporaryNames) throws(FileError) {
        let name = try naming.next(for: target)
        let raw = unsafe name.withPlatformString { unsafe clinux_path_create(directory.descriptor.raw, $0, Self.mode) }
        if [.permissionDenied, .notPermitted, .readOnlyFileSystem].contains(Errno(rawValue: -raw)) {
            throw FileError(of: Errno(rawValue: -raw), at: directory.path.string)
        }
        let descriptor = Descriptor(
            adopting: try checked(raw, directory.path(of: target), missing: .directoryMissing))
        let made: FileStatus
        do throws(FileError) {
            made = try FileStatus(of: descriptor.raw, path: directory.path.string)
        } catch {
            directory.remove(name)
            throw error
        }
        guard Self.lock(descriptor.raw), (try? directory.status(of: name))?.isSameFile(as: made) == true else {
            throw FileError(.changedMeanwhile, at: directory.path(of: target))
        }
        self.descriptor = descriptor
        self.directory = directory
        self.name = name
        self.made = made
        own = made
    }

    /// Whether nothing else holds the file's lock. A file system without locks has nothing to tell: there, a temporary is
    /// never in use by another process.
    static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    deinit {
        guard let own, let there = try? directory.status(of: name), there.isSameFile(as: own) else { return }
        directory.remove(name)
    }

    /// Takes a name that is free.
    mutating func appear(as target: FilePath.Component) throws(FileError) {
        var result = rename(to: target, CLINUX_RENAME_NEW)
        if Errno(rawValue: -result) == .invalidArgument {
            // The file system lacks RENAME_NOREPLACE: check, then rename.
            result =
                try directory.status(of: target) == nil
                ? rename(to: target, CLINUX_RENAME_OVER) : -Errno.fileExists.rawValue
        }
        if Errno(rawValue: -result) == .fileExists {
            throw FileError(.changedMeanwhile, at: directory.path(of: target))
        }
        _ = try checked(result, directory.path(of: target), missing: .changedMeanwhile)
        own = nil
        do throws(FileError) {
            try directory.sync(by: descriptor.raw)
        } catch {
            // Not removed by its name, which another program's file may have by now.
            if rename(target, to: name, CLINUX_RENAME_NEW) == 0 {
                own = made
                if try directory.status(of: name)?.isSameFile(as: made) == false {
                    _ = rename(to: target, CLINUX_RENAME_NEW)
                }
            }
            throw error
        }
    }

    /// Takes the name from the file that has it, which is lost.
    mutating func overwrite(_ target: FilePath.Component) throws(FileError) {
        _ = try checked(
            rename(to: target, CLINUX_RENAME_OVER), directory.path(of: target), missing: .changedMeanwhile)
        own = nil
        try directory.sync(by: descriptor.raw)
    }

    /// Takes the name from the file that `isExpected` accepts, by exchanging the two, so that the replaced file can be
    /// checked afterwards. If it is another one, it gets its name back, and ``FileError/Kind/changedMeanwhile`` is
    /// thrown.
    mutating func replace(
        _ target: FilePath.Component, isExpected: (FilePath.Component) throws(FileError) -> FileStatus?
    ) throws(FileError) {
        let path = directory.path(of: target)
        let result = rename(to: target, CLINUX_RENAME_EXCHANGE)
        if Errno(rawValue: -result) == .invalidArgument {
            // The file system lacks exchange, as on a network: the replaced file cannot be checked.
            return try overwrite(target)
        }
        _ = try checked(result, path, missing: .changedMeanwhile)
        var replaced: FileStatus?
        var failure = FileError(.changedMeanwhile, at: path)
        do throws(FileError) {
            replaced = try isExpected(name)
            if replaced != nil { try directory.sync(by: descriptor.raw) }
        } catch {
            // A file that cannot be checked is put back: it may be another program's, and must not stay here for ever.
            replaced = nil
            failure = error
        }
        if let replaced {
            own = directory.remove(name) ? nil : replaced
            // The secret is published, so this error does not make the write fail. At worst a power cut brings the old file back
            // under this name, and the next start removes it.
            try? directory.sync(by: descriptor.raw)
            return
        }
        // Each round puts the taken file back under the name, and should get the file of the round before.
        var expected = made
        for _ in 0..<Self.roundLimit {
            guard let taken = try directory.status(of: name) else { break }
            let result = rename(to: target, CLINUX_RENAME_EXCHANGE)
            if Errno(rawValue: -result) == .noSuchFileOrDirectory {
                guard rename(to: target, CLINUX_RENAME_NEW) < 0 else { break }
                continue
            }
            guard result == 0 else { break }
            own = expected
            guard let there = try directory.status(of: name), !there.isSameFile(as: expected) else { break }
            expected = taken
        }
        throw failure
    }

    private func rename(to target: FilePath.Component, _ how: some BinaryInteger) -> Int32 {
        rename(name, to: target, how)
    }

    private func rename(_ old: FilePath.Component, to new: FilePath.Component, _ how: some BinaryInteger) -> Int32 {
        unsafe old.withPlatformString { from in
            unsafe new.withPlatformString { to in
                unsafe clinux_path_rename(directory.descriptor.raw, from, to, Int32(how))
            }
        }
    }
}
