/// The mounts that a process sees (proc_pid_mountinfo(5)), read from the kernel's table: a file system itself might not respond.
package struct MountTable: Hashable, Sendable {
    package struct Mount: Hashable, Sendable {
        /// In the table, from 1.
        package let line: Int
        package let id: String
        package let parent: String
        /// Major and minor number of the file system, which all namespaces call alike.
        package let device: String
        /// The mounted directory, from the root of the file system.
        package let root: String
        package let point: String
        package let isReadOnly: Bool
        let isFileSystemReadOnly: Bool

        /// Whether systemd has put a private directory of the unit there (systemd.exec(5), `PrivateTmp=`).
        package var isPrivate: Bool { ["/tmp", "/var/tmp"].contains(point) && root.contains("/systemd-private-") }
    }

    /// A file by its file system: the same for all mounts by which its path leads there.
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
    package init(_ text: String) { self.init(Array(text.utf8)) }

    private init(_ text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        self.init(lines.enumerated().compactMap { Mount(line: $0.offset + 1, $0.element) })
    }

    private init(_ mounts: [Mount]) {
        self.mounts = mounts
        uncovered = Dictionary(mounts.map { ($0.point, $0) }) { _, last in last }
    }

    /// The current table; nil if /proc is not mounted.
    package static func ofThisProcess() -> MountTable? {
        ForeignFile.read("/proc/self/mountinfo", limit: limit).map { MountTable($0) }
    }

    /// The whole table of a process that is known; nil if this process may not read it.
    package static func of(process: Int32) -> MountTable? {
        ForeignFile.read("/proc/\(process)/mountinfo", limit: foreignLimit).map { MountTable($0) }
    }

    /// Of another process's table those mounts that `isWanted`, and those that they are mounted on; nil if this process may not
    /// read it. The process's owner chooses how many mounts there are.
    ///
    /// - Parameter limit: how many wanted ones are kept.
    package static func of(
        process: Int32, limit: Int, _ look: ProcessLook, where isWanted: (Mount) -> Bool
    ) -> MountTable? {
        guard let text = look.read("/proc/\(process)/mountinfo", limit: foreignLimit) else { return nil }
        let (mounts, isCut) = MountTable(text).some(limit: limit, where: isWanted)
        if isCut { look.leaveOut() }
        return MountTable(mounts)
    }

    /// - Returns: in the order of the table, and whether more are wanted than are kept.
    func some(limit: Int, where isWanted: (Mount) -> Bool) -> (mounts: [Mount], isCut: Bool) {
        let wanted = mounts.filter(isWanted)
        let kept = Set(wanted.prefix(limit))
        let parents = Set(kept.map(\.parent))
        return (mounts.filter { kept.contains($0) || parents.contains($0.id) }, wanted.count > limit)
    }

    /// In bytes; a hundred thousand mounts.
    private static let limit = 16 << 20
    /// In bytes, of another process's table: that of a machine with many containers is far shorter.
    private static let foreignLimit = 4 << 20

    /// The mount that `path` is on by its text, without following links.
    package func mount(of path: String) -> Mount? {
        var above = path[...]
        while let slash = above.lastIndex(of: "/") {
            if let mount = uncovered[String(above)] { return mount }
            above = above[..<slash]
        }
        return uncovered["/"]
    }

    /// The place of the file at a path without links; nil if the table does not have it.
    package func place(of path: String) -> Place? { mount(of: path).map { Self.place(of: path, in: $0) } }

    package static func place(of path: String, in mount: Mount) -> Place {
        let rest = mount.point == "/" ? path : String(path.dropFirst(mount.point.count))
        return Place(device: mount.device, path: mount.root == "/" ? rest : mount.root + rest)
    }
}

extension MountTable.Mount {
    /// - Parameter text: a line of the table; nil for any other text.
    fileprivate init?(line number: Int, _ text: ArraySlice<UInt8>) {
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        guard fields.count > 6, let end = fields.firstIndex(of: "-"), fields.count > end + 3 else { return nil }
        func isReadOnly(_ options: Substring) -> Bool { options.split(separator: ",").contains("ro") }
        self.init(
            line: number, id: String(fields[0]), parent: String(fields[1]), device: String(fields[2]),
            root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]), isReadOnly: isReadOnly(fields[5]),
            isFileSystemReadOnly: isReadOnly(fields[end + 3]))
    }

    /// A decoded path: the table writes blanks, tabs, line breaks and backslashes in octal.
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
