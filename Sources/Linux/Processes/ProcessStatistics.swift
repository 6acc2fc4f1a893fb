import Glibc

/// The figures of a process, as /proc/PID/stat has them (proc_pid_stat(5)).
package struct ProcessStatistics: Hashable, Sendable {
    /// CPU time in user and kernel mode, in clock ticks.
    package let ticks: Int64
    package let threads: Int64
    /// When it was started, in clock ticks after the boot.
    package let startedAt: Int64
    package let virtualBytes: Int64
    package let residentPages: Int64

    /// How many clock ticks a second has.
    package static var ticksPerSecond: Int64 { Int64(max(1, sysconf(Int32(_SC_CLK_TCK)))) }

    /// Nil when the process has ended.
    ///
    /// - Parameter folder: the process's directory in /proc.
    package init?(ofProcessIn folder: String) {
        guard let text = ForeignFile.read("\(folder)/stat", limit: 65_536) else { return nil }
        self.init(text)
    }

    /// Nil if a field is missing.
    package init?(_ text: [UInt8]) {
        // The process chooses its name, which is in parentheses and may hold any byte.
        guard let name = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
            .map { Int64(String(decoding: $0, as: UTF8.self)) }
        // utime, stime, num_threads, starttime, vsize and rss are the fields 14, 15, 20, 22, 23 and 24; `fields` begins with
        // the third.
        guard fields.count > 21, let user = fields[11], let system = fields[12], let threads = fields[17],
            let startedAt = fields[19], let virtualBytes = fields[20], let residentPages = fields[21]
        else { return nil }
        ticks = user + system
        self.threads = threads
        self.startedAt = startedAt
        self.virtualBytes = virtualBytes
        self.residentPages = residentPages
    }
}
