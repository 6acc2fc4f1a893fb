import CLinux
internal import Glibc

/// Reads files of other programs and users, to report what they say. What is read here decides nothing: nobody is trusted
/// for it.
package enum ForeignFile {
    /// The content of a regular file, links followed; nil where there is none, it may not be read or is longer than `limit`
    /// bytes. Neither a FIFO nor a device is opened. Files of /proc are read to their end.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        DiskPatience.value(at: path) { readAtOnce(path, limit) } ?? nil
    }

    private static func readAtOnce(_ path: String, _ limit: Int) -> [UInt8]? {
        var found = clinux_status()
        guard unsafe clinux_path_look_whole(path, &found) == 0, FileStatus(found).kind == .regular else { return nil }
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(adopting: raw)
        // Another file may have this name since.
        guard let status = try? FileStatus(of: descriptor.raw, path: path), status.kind == .regular else { return nil }
        return try? Descriptor.read(descriptor.raw, atMost: limit)
    }

    /// The names in a directory, sorted; none where it cannot be read.
    ///
    /// - Parameter limit: how many names are looked at.
    package static func names(in directory: String, limit: Int) -> [String] {
        DiskPatience.value(at: directory) { namesAtOnce(directory, limit) } ?? []
    }

    private static func namesAtOnce(_ directory: String, _ limit: Int) -> [String] {
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
    }

    /// The paths that match a pattern with wildcards, sorted, as systemd expands `EnvironmentFile=`.
    package static func paths(matching pattern: String) -> [String] {
        guard let wildcard = pattern.firstIndex(where: { #"*?[\"#.contains($0) }) else { return [pattern] }
        let directory = pattern[..<wildcard].lastIndex(of: "/").map { String(pattern[...$0]) } ?? "/"
        return DiskPatience.value(at: directory) { pathsAtOnce(pattern) } ?? []
    }

    private static func pathsAtOnce(_ pattern: String) -> [String] {
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(unsafe found.gl_pathc)).compactMap { index in
            unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
        }
    }

    /// What a symbolic link says, such as those of /proc; nil where it cannot be read.
    package static func link(_ path: String) -> String? {
        DiskPatience.value(at: path) { linkAtOnce(path) } ?? nil
    }

    static func linkAtOnce(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
