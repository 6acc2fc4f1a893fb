internal import Glibc

/// The systemd unit that this process belongs to.
package enum OwnUnit {
    /// Whether systemd itself has started this process; false for one that was started by hand, in whose environment a shell may
    /// have left the variable.
    ///
    /// - Parameter environment: systemd names the process there (systemd.exec(5), `SYSTEMD_EXEC_PID`).
    package static func hasStarted(processWith environment: [String: String]) -> Bool {
        environment["SYSTEMD_EXEC_PID"] == String(getpid())
    }

    /// The same by this process's own environment.
    package static var hasStartedProcess: Bool {
        unsafe getenv("SYSTEMD_EXEC_PID").map { unsafe String(cString: $0) } == String(getpid())
    }

    /// The service that has started the process of this environment; nil for any other process.
    package static func service(_ environment: [String: String]) -> String? {
        hasStarted(processWith: environment) ? Cgroup.service(ofProcessIn: "/proc/self") : nil
    }

    /// The same by this process's own environment.
    package static var service: String? { hasStartedProcess ? Cgroup.service(ofProcessIn: "/proc/self") : nil }
}
