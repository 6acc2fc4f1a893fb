/// The groups of a process, which it has from its start on (proc_pid_status(5)).
package enum ProcessGroups {
    /// The group that it runs as, and its supplementary ones; nil when it has ended.
    package static func of(process: Int32) -> Set<UInt32>? {
        ForeignFile.read("/proc/\(process)/status", limit: 1 << 20).map {
            groups(in: String(decoding: $0, as: UTF8.self))
        }
    }

    /// - Parameter status: as /proc/PID/status has it.
    package static func groups(in status: String) -> Set<UInt32> {
        // Of "Gid:" the effective one is the second.
        Set(numbers("Gid:", in: status).dropFirst().prefix(1) + numbers("Groups:", in: status))
    }

    private static func numbers(_ name: String, in status: String) -> [UInt32] {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return [] }
        return line.dropFirst(name.count).split { $0 == " " || $0 == "\t" }.compactMap { UInt32($0) }
    }
}
