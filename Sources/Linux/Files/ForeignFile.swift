import CLinux
internal import Failures
internal import Glibc
import SystemPackage

/// Reads /proc and files of other programs and users, in order to report them. Their content decides nothing, because no user is
/// trusted for it.
package enum ForeignFile {
    /// The content of a regular file, links followed; nil if there is none, it may not be read or is longer than `limit` bytes.
    /// Never opens a FIFO or a device. Files of /proc are read to their end.
    package static func read(_ path: String, limit: Int) -> [UInt8]? { try? contents(of: path, limit: limit) }

    /// The same, or why not: also `.fileTooLarge`, and `.notResponding` after ``DiskTimeout``.
    package static func contents(of path: String, limit: Int) throws(FileError) -> [UInt8] {
        try DiskTimeout.require(at: path) { () throws(FileError) in try contents(of: open(path), path, limit: limit) }
    }

    /// The same for a file whose content decides something, so that only root and the acting user may have written it. The
    /// directories on the way are not judged: an orchestrator mounts such files below directories that are open to all.
    ///
    /// - Parameter mayClose: whether a command may take the right to write from other users, by the content. A wrong path may
    ///   name any file of the machine, whose mode is then correct.
    package static func contents(
        of path: String, limit: Int, writtenBy identity: Identity, closing mayClose: ([UInt8]) -> Bool
    ) throws(FileError) -> [UInt8] {
        let (bytes, author) = try DiskTimeout.require(at: path) { () throws(FileError) in
            let descriptor = try open(path)
            let status = try FileStatus(of: descriptor.raw, path: path)
            let author = try UntrustedAuthor(of: status, descriptor.raw, path, as: identity)
            return (try contents(of: descriptor, path, limit: limit), author)
        }
        guard let author else { return bytes }
        let file = mayClose(bytes) ? PathComponent(file: path, for: identity) : nil
        let directory = FilePath(path).removingLastComponent().string
        throw author.error(
            at: path, inOpenDirectory: FileStatus.following(directory)?.isWritableByOthers != false, closing: file)
    }

    private static func contents(
        of descriptor: borrowing Descriptor, _ path: String, limit: Int
    ) throws(FileError) -> [UInt8] {
        // Files of /proc have no size.
        guard try FileStatus(of: descriptor.raw, path: path).size <= limit else {
            throw FileError(.fileTooLarge, at: path)
        }
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try Descriptor.read(descriptor.raw, atMost: limit) } catch {
            throw FileError(of: error.errno, at: path)
        }
        guard let bytes else { throw FileError(.fileTooLarge, at: path) }
        return bytes
    }

    /// Opens a regular file for reading, links followed; waits for nothing but its file system. Anything else is refused
    /// before it is opened, which can have side effects on a device.
    package static func open(_ path: String) throws(FileError) -> Descriptor {
        var found = clinux_status()
        _ = try checked(unsafe clinux_path_look_whole(path, &found), path)
        try FileStatus(found).requireRegular(path)
        let raw = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard raw >= 0 else { throw FileError(of: Errno(rawValue: errno), at: path) }
        let descriptor = Descriptor(adopting: raw)
        // Another file may have this name since.
        try FileStatus(of: descriptor.raw, path: path).requireRegular(path)
        return descriptor
    }

    /// As many bytes from the beginning as there are, `count` at most; nil if it cannot be read.
    package static func bytes(of path: String, count: Int) -> [UInt8]? {
        guard let file = try? open(path) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = unsafe pread(file.raw, &bytes, count, 0)
        return length < 0 ? nil : Array(bytes.prefix(length))
    }

    /// The names in a directory, sorted; none if it cannot be read.
    ///
    /// - Parameter limit: how many names are looked at.
    package static func names(in directory: String, limit: Int) -> [String] {
        DiskTimeout.value(at: directory) { () -> [String] in
            guard let stream = unsafe opendir(directory) else { return [] }
            defer { unsafe closedir(stream) }
            var names: [String] = []
            for _ in 0..<limit {
                guard let entry = unsafe readdir(stream) else { break }
                names.append(
                    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                    })
            }
            return names.filter { $0 != "." && $0 != ".." }.sorted()
        } ?? []
    }

    /// The first 15 bytes of a process's name (proc_pid_comm(5)), which the process chooses itself. Nil when it has ended or is
    /// not visible, as under ProtectProc=.
    package static func command(of process: Int32) -> [UInt8]? {
        read("/proc/\(process)/comm", limit: 4_096).map {
            Array($0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0[...])
        }
    }

    /// The paths that match a pattern with wildcards, sorted, as systemd expands `EnvironmentFile=`.
    package static func paths(matching pattern: String) -> [String] {
        guard let wildcard = pattern.firstIndex(where: { #"*?[\"#.contains($0) }) else { return [pattern] }
        let directory = pattern[..<wildcard].lastIndex(of: "/").map { String(pattern[...$0]) } ?? "/"
        return DiskTimeout.value(at: directory) { () -> [String] in
            var found = unsafe glob_t()
            defer { unsafe globfree(&found) }
            guard unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
            return (0..<Int(unsafe found.gl_pathc)).compactMap { index in
                unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
            }
        } ?? []
    }

    /// The text of a symbolic link, such as those of /proc; nil if it cannot be read.
    package static func link(_ path: String) -> String? { try? text(ofLink: path) }

    /// The same, or why not: also `.notResponding` after ``DiskTimeout``.
    static func text(ofLink path: String) throws(FileError) -> String {
        try DiskTimeout.require(at: path) { () throws(FileError) in try textAtOnce(ofLink: path) }
    }

    static func linkAtOnce(_ path: String) -> String? { try? textAtOnce(ofLink: path) }

    private static func textAtOnce(ofLink path: String) throws(FileError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        // Room for the NUL.
        guard unsafe readlink(path, &buffer, buffer.count - 1) > 0 else {
            throw FileError(of: Errno(rawValue: errno), at: path)
        }
        return String(zeroTerminated: buffer)
    }
}
