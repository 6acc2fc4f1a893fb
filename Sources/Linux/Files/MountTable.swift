internal import Glibc

/// The mounts of this process (proc_pid_mountinfo(5)), read from the kernel's table: a file system itself might not respond.
package struct MountTable: Sendable {
    package struct Mount: Sendable {
        package let point: String
        let isReadOnly: Bool
        let isFileSystemReadOnly: Bool
        /// Whether systemd has put a directory of the unit's own there (systemd.exec(5), `PrivateTmp=`).
        package let isPrivate: Bool
        /// What the paths below it begin with.
        fileprivate let below: String
    }

    /// The deepest first; of several at one point the last, which covers the others.
    private let mounts: [Mount]

    /// - Parameter text: of `/proc/self/mountinfo`.
    init(_ text: String) {
        let found = text.split(separator: "\n").compactMap { line -> Mount? in
            let fields = line.split(separator: " ")
            guard fields.count > 6, let end = fields.firstIndex(of: "-"), fields.count > end + 3 else { return nil }
            func isReadOnly(_ options: Substring) -> Bool { options.split(separator: ",").contains("ro") }
            let point = Self.unescaped(fields[4])
            return Mount(
                point: point,
                isReadOnly: isReadOnly(fields[5]), isFileSystemReadOnly: isReadOnly(fields[end + 3]),
                isPrivate: ["/tmp", "/var/tmp"].contains(point) && fields[3].contains("/systemd-private-"),
                below: point == "/" ? point : point + "/")
        }
        mounts = Dictionary(found.map { ($0.point, $0) }) { _, last in last }.values
            .sorted { $0.point.utf8.count > $1.point.utf8.count }
    }

    /// The table as it is now; nil where /proc is not mounted.
    package static func ofThisProcess() -> MountTable? {
        let raw = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(adopting: raw)
        guard let text = try? Descriptor.read(descriptor.raw, atMost: limit) else { return nil }
        return MountTable(String(decoding: text, as: UTF8.self))
    }

    /// In bytes; a hundred thousand mounts.
    private static let limit = 16 << 20

    /// The mount that `path` is on by its text, without following links.
    package func mount(of path: String) -> Mount? {
        mounts.first { path.hasPrefix($0.below) || path == $0.point }
    }

    /// A path as it is: in the table blanks, tabs, line breaks and backslashes are written in octal.
    package static func unescaped(_ field: Substring) -> String {
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
