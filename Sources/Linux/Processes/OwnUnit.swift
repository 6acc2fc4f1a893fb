internal import Glibc

/// The unit of systemd's that this process belongs to.
package enum OwnUnit {
    /// The service whose main process this is; nil for any other process, such as one that was started by hand.
    ///
    /// - Parameter environment: systemd names the process there (systemd.exec(5), `SYSTEMD_EXEC_PID`).
    package static func service(_ environment: [String: String]) -> String? {
        guard environment["SYSTEMD_EXEC_PID"] == String(getpid()),
            let text = ForeignFile.read("/proc/self/cgroup", limit: 65_536)
        else { return nil }
        return service(inControlGroups: String(decoding: text, as: UTF8.self))
    }

    /// The service of the system's manager that has these control groups (cgroups(7), `/proc/PID/cgroup`).
    static func service(inControlGroups text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1] == "name=systemd" else { continue }
            let groups = fields[2].split(separator: "/")
            guard let last = groups.last, last.hasSuffix(".service"),
                !groups.contains(where: { $0.hasPrefix("user@") })
            else { continue }
            // systemd puts a "_" before a name that could be one of the kernel's.
            return String(last.hasPrefix("_") ? last.dropFirst() : last)
        }
        return nil
    }
}
