import CLinux

/// Runs a program to its end: no shell, no inherited descriptors, its own environment, and nothing left running after
/// a timeout.
package enum ChildProcess {
    /// Runs `arguments`, the first of which is the program's absolute path, and waits.
    ///
    /// Standard input is empty; standard output and error are captured together. At the timeout, or when `cancel` is
    /// raised, SIGTERM goes to the child's process group, and after two seconds SIGKILL to all its descendants, in
    /// whatever group they are; likewise when this process ends, however it does. When the child ends by itself, its
    /// background processes go on, since a hook may restart a server, and they do not delay the report.
    ///
    /// Throws when the program could not be started: `.noSuchFileOrDirectory`, `.permissionDenied`, `.noExec`…
    /// - Parameter milliseconds: the timeout; a suspend does not count.
    package static func run(
        _ arguments: [String], environment: [String: String], timeout milliseconds: Int64, cancel: EventCounter? = nil
    ) throws(SystemError) -> ExitReport {
        var child = try StartedChild(arguments, environment: environment)
        let timeout = min(max(milliseconds, 0), longestTimeout)
        let interruption = child.wait(milliseconds: timeout, cancel: cancel?.raw ?? -1)
        let ending = try child.end(after: interruption)
        return child.output.report(ending)
    }

    /// A year in milliseconds: more could overflow.
    private static let longestTimeout: Int64 = 366 * 86_400 * 1_000

    /// Reaps processes that became this one's children because it is PID 1, so that none stays a zombie. The loop calls
    /// it at each ``Signal/childEnded``. Children of ``run(_:environment:timeout:cancel:)`` are left alone.
    package static func reapOrphans() {
        clinux_orphans_reap()
    }
}
