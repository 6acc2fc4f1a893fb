import Config
import Failures
import Glibc
import Linux
import Model
import SystemPackage

/// Files named by a flag, which the caller may read, even if another user owns them.
enum NamedFile {
    /// Standard input, as a file's name.
    static let standardInput = "-"

    /// A file's name, as a message shows it.
    static func shown(_ name: String) -> String { name == standardInput ? "standard input" : Printable.name(name) }

    /// In milliseconds: the time to reach the end of a file, or of a pipe or a terminal, on which another program or a person may
    /// take some time. An endless source (/proc/kmsg, a pipe that is kept open) then fails.
    private static let fileTime: Int64 = 10_000
    private static let streamTime: Int64 = 60_000

    /// All of the file, or of standard input for `-`. More than `limit` bytes are refused. Only a regular file, a pipe or a
    /// terminal is read.
    static func read(_ name: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        guard name != standardInput else {
            return try read(from: STDIN_FILENO, name: "standard input", limit: limit)
        }
        let descriptor = try open(name)
        return try read(from: descriptor.raw, name: name, limit: limit)
    }

    /// A file that the caller reads in part; a read without anything to read fails with EAGAIN.
    static func open(_ name: String) throws(CommandFailure) -> Descriptor {
        // Without O_NONBLOCK, opening a named pipe would block until a writer opens it.
        let opened = DiskTimeout.value(at: path(name)) {
            let number = unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            return number < 0 ? -errno : number
        }
        guard let number = opened else { throw unreadable(name, DiskTimeout.words) }
        guard number >= 0 else {
            let errno = Errno(rawValue: -number)
            throw errno == .permissionDenied && geteuid() != 0 ? closed(name) : unreadable(name, "\(errno)")
        }
        let descriptor = Descriptor(adopting: number)
        guard DiskTimeout.value(at: path(name), { mayBeRead(number, name) }) != false else {
            throw unreadable(name, "it is not a regular file; name a regular file")
        }
        return descriptor
    }

    /// Absolute.
    private static func path(_ name: String) -> String {
        ConfigurationLoader.absolutePath(of: name)?.description ?? name
    }

    /// - Parameter why: on one line, and escaped.
    static func unreadable(
        _ name: String, _ why: String, _ code: CommandExitStatus = .unreadable
    ) -> CommandFailure {
        CommandFailure(code, "\(Printable.name(name)) cannot be read: \(why)")
    }

    /// For a file that only root and other users than the caller may read.
    static func closed(_ name: String, _ code: CommandExitStatus = .unreadable) -> CommandFailure {
        unreadable(name, "\(Errno.permissionDenied); \(Remedy.readAsAnotherUser)", code)
    }

    /// Directories pass, because the error of reading one names them as such. A shell's `<(…)` and /dev/stdin are pipes without a
    /// name, which end when their writer does.
    private static func mayBeRead(_ descriptor: Int32, _ name: String) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return true
        case S_IFIFO: return FileSystems.isUnnamedPipe(name)
        default: return isatty(descriptor) == 1
        }
    }

    private static func read(from descriptor: Int32, name: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        var status = stat()
        let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let time = isFile ? fileTime : streamTime
        let deadline = Deadline(in: time)
        let read = { @Sendable () -> Result<[UInt8]?, SystemError> in
            do throws(SystemError) {
                return .success(try Descriptor.read(descriptor, atMost: limit, until: deadline))
            } catch {
                return .failure(error)
            }
        }
        guard let result = isFile ? DiskTimeout.value(at: path(name), read) : read() else {
            throw unreadable(name, DiskTimeout.words)
        }
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try result.get() } catch {
            throw unreadable(
                name, error.errno == .timedOut ? "reading it took longer than \(time / 1000) s" : "\(error.errno)")
        }
        guard let bytes else {
            throw CommandFailure(
                .unreadable, "\(Printable.name(name)) is longer than \(limit) bytes, so it is not a file with a secret")
        }
        return bytes
    }
}
