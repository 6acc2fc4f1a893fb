import CLinux

/// A program run to its end: no shell, no descriptors, an environment of its own, and nothing of it left after a
/// timeout.
package enum ChildProcess {
    /// Runs `arguments`, the first of which is the program's absolute path, and waits.
    ///
    /// Standard input is empty; standard output and error are gathered together. At the timeout, or when `cancel` is
    /// raised, SIGTERM goes to the child's process group, and after two seconds SIGKILL to whoever descends from the
    /// child, wherever it went; the same happens when this process ends, however it does. A child that ends by itself
    /// leaves its background processes alone, since a hook may restart a server, and they do not hold up the report.
    ///
    /// Throws when the program could not be started: `.noSuchFileOrDirectory`, `.permissionDenied`, `.noExec`…
    /// - Parameter milliseconds: the timeout; a suspend does not use it up.
    package static func run(
        _ arguments: [String], environment: [String: String], timeout milliseconds: Int64, cancel: EventCounter? = nil
    ) throws(SystemError) -> ExitReport {
        var child = try StartedChild(arguments, environment: environment)
        let timeout = min(max(milliseconds, 0), longestTimeout)
        let interruption = child.wait(milliseconds: timeout, cancel: cancel?.raw ?? -1)
        let ending = try child.end(after: interruption)
        return child.output.report(ending)
    }

    /// A year: more only overflows.
    private static let longestTimeout: Int64 = 366 * 86_400 * 1_000

    /// Takes the status of processes that became this one's children because it is PID 1, so that none stays a zombie;
    /// for the loop, at each ``Signal/childEnded``. Never that of a child that ``run(_:environment:timeout:cancel:)`` waits for.
    package static func reapOrphans() {
        clinux_orphans_reap()
    }
}
