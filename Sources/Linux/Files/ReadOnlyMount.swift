package import Failures
internal import Glibc
import SystemPackage

extension ReadOnlyCause {
    /// Why the directory at the real path `directory` is read-only; nil where it is not, or nothing is known of mounts.
    package static func of(_ directory: String) -> ReadOnlyCause? {
        guard let table = MountTable.ofThisProcess() else { return nil }
        // What systemd starts as a unit's main process knows itself by this (systemd.exec(5)); a shell may have inherited it.
        let isUnit = unsafe getenv("SYSTEMD_EXEC_PID").map { unsafe String(cString: $0) } == String(getpid())
        return of(directory, in: table, isUnit: isUnit)
    }

    /// A sandbox changes mounts, and no file system. Only of the root's mount is it known that nothing else made it
    /// read-only: the machine would not run.
    ///
    /// - Parameter isUnit: whether systemd started the process.
    static func of(_ directory: String, in table: MountTable, isUnit: Bool) -> ReadOnlyCause? {
        guard let mount = table.mount(of: directory) else { return nil }
        if mount.isFileSystemReadOnly { return .fileSystem(mount.point) }
        guard mount.isReadOnly else { return nil }
        return isUnit && mount.point == "/" ? .sandbox : .mount(mount.point)
    }
}

/// The mounts of a process (proc_pid_mountinfo(5)).
struct MountTable {
    struct Mount {
        let point: String
        let isReadOnly: Bool
        let isFileSystemReadOnly: Bool
    }

    private let mounts: [Mount]

    init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 6, let end = fields.firstIndex(of: "-"), fields.count > end + 3 else { return nil }
            func isReadOnly(_ options: Substring) -> Bool { options.split(separator: ",").contains("ro") }
            return Mount(
                point: Self.unescaped(fields[4]), isReadOnly: isReadOnly(fields[5]),
                isFileSystemReadOnly: isReadOnly(fields[end + 3]))
        }
    }

    static func ofThisProcess() -> MountTable? {
        let raw = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(adopting: raw)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while text.count < limit {
            let count = unsafe read(descriptor.raw, &buffer, buffer.count)
            guard count > 0 else { break }
            text += buffer.prefix(count)
        }
        return MountTable(String(decoding: text, as: UTF8.self))
    }

    /// In bytes; a hundred thousand mounts.
    private static let limit = 16 << 20

    /// The mount that a real path lies on: of those at the longest prefix the last one, which covers the others.
    func mount(of path: String) -> Mount? {
        var found: Mount?
        for mount in mounts {
            let isAbove = mount.point == "/" || path == mount.point || path.hasPrefix(mount.point + "/")
            if isAbove, mount.point.utf8.count >= found?.point.utf8.count ?? 0 { found = mount }
        }
        return found
    }

    /// Blanks, tabs, line breaks and backslashes are written in octal.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
