internal import Glibc

/// The systemd unit that this process belongs to.
package enum OwnUnit {
    /// The service whose main process this is; nil for any other process, such as one that was started by hand.
    ///
    /// - Parameter environment: systemd names the process there (systemd.exec(5), `SYSTEMD_EXEC_PID`).
    package static func service(_ environment: [String: String]) -> String? {
        guard environment["SYSTEMD_EXEC_PID"] == String(getpid()) else { return nil }
        return Cgroup.service(ofProcessIn: "/proc/self")
    }

    /// The same by this process's own environment.
    package static var service: String? {
        let process = unsafe getenv("SYSTEMD_EXEC_PID").map { unsafe String(cString: $0) }
        return service(process.map { ["SYSTEMD_EXEC_PID": $0] } ?? [:])
    }
}
