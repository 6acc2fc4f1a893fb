/// The mounts that a process sees (proc_pid_mountinfo(5)), read from the kernel's table: a file system itself might not respond.
package struct MountTable: Hashable, Sendable {
    package struct Mount: Hashable, Sendable {
        /// In the table, from 1.
        package let line: Int
        package let id: String
        package let parent: String
        /// Major and minor number of the file system, which all namespaces call alike.
        package let device: String
        /// What is mounted, from the root of the file system.
        package let root: String
        package let point: String
        let isReadOnly: Bool
        let isFileSystemReadOnly: Bool

        /// Whether systemd has put a directory of the unit's own there (systemd.exec(5), `PrivateTmp=`).
        package var isPrivate: Bool { ["/tmp", "/var/tmp"].contains(point) && root.contains("/systemd-private-") }
    }

    /// A file by the file system that it is on: the same by whichever mount its path leads there.
    package struct Place: Hashable, Sendable {
        /// ``Mount/device``.
        package let device: String
        /// From the root of the file system.
        package let path: String

        package init(device: String, path: String) {
            self.device = device
            self.path = path
        }
    }

    /// In the order of the table, in which the last of several at one point covers the others.
    package let mounts: [Mount]
    /// Those that are not covered, by their points.
    private let uncovered: [String: Mount]

    /// - Parameter text: of `/proc/PID/mountinfo`.
    package init(_ text: String) {
        mounts = text.split(separator: "\n").enumerated().compactMap { index, line in
            let fields = line.split(separator: " ")
            guard fields.count > 6, let end = fields.firstIndex(of: "-"), fields.count > end + 3 else { return nil }
            func isReadOnly(_ options: Substring) -> Bool { options.split(separator: ",").contains("ro") }
            return Mount(
                line: index + 1, id: String(fields[0]), parent: String(fields[1]), device: String(fields[2]),
                root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]), isReadOnly: isReadOnly(fields[5]),
                isFileSystemReadOnly: isReadOnly(fields[end + 3]))
        }
        uncovered = Dictionary(mounts.map { ($0.point, $0) }) { _, last in last }
    }

    /// The table as it is now; nil where /proc is not mounted.
    package static func ofThisProcess() -> MountTable? { of(process: "self") }

    /// The same of another process, by its number; nil also where this one may not read it.
    package static func of(process: String) -> MountTable? {
        ForeignFile.read("/proc/\(process)/mountinfo", limit: limit).map {
            MountTable(String(decoding: $0, as: UTF8.self))
        }
    }

    /// In bytes; a hundred thousand mounts.
    private static let limit = 16 << 20

    /// The mount that `path` is on by its text, without following links.
    package func mount(of path: String) -> Mount? {
        var above = path[...]
        while let slash = above.lastIndex(of: "/") {
            if let mount = uncovered[String(above)] { return mount }
            above = above[..<slash]
        }
        return uncovered["/"]
    }

    /// Where the file at a path without links is; nil where the table does not have it.
    package func place(of path: String) -> Place? { mount(of: path).map { Self.place(of: path, in: $0) } }

    package static func place(of path: String, in mount: Mount) -> Place {
        let rest = mount.point == "/" ? path : String(path.dropFirst(mount.point.count))
        return Place(device: mount.device, path: mount.root == "/" ? rest : mount.root + rest)
    }

    /// A path as it is: in the table blanks, tabs, line breaks and backslashes are written in octal.
    private static func unescaped(_ field: Substring) -> String {
        guard field.utf8.contains(UInt8(ascii: "\\")) else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
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
