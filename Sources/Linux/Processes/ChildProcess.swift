import CLinux

/// Runs a program to its end: no shell, no inherited descriptors, its own environment, and nothing left running after
/// a timeout.
package enum ChildProcess {
    /// The least environment of this project's programs: nothing of the caller's.
    package static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]

    /// Runs `arguments`, the first of which is the program's absolute path, and waits.
    ///
    /// Standard input is empty; standard output and error are captured together. At the timeout, or when `cancel` is raised,
    /// SIGTERM goes to the child's process group. Two seconds later (`termination_timeouts.h`) SIGKILL goes to all its
    /// descendants, in any process group. The same if this process ends in any way. A child that kills its supervisor is killed
    /// with all its descendants, in a process that adopts orphans. When the child ends by itself, its background processes do not
    /// delay the report, since a hook may restart a server. They continue until this process ends, however it does; see
    /// ``releaseBackgroundProcesses()``.
    ///
    /// Throws when the program could not be started: `.noSuchFileOrDirectory`, `.permissionDenied`, `.noExec`…
    /// - Parameter milliseconds: the timeout; a suspend does not count.
    package static func run(
        _ arguments: [String], environment: [String: String], timeout milliseconds: Int64, cancel: EventCounter? = nil
    ) throws(SystemError) -> ExitReport {
        var child = try SupervisedChild(arguments, environment: environment)
        let interruption = child.wait(milliseconds: milliseconds, cancel: cancel?.raw ?? -1)
        let ending = try child.end(after: interruption)
        return child.output.report(ending)
    }

    /// Has orphans among all descendants become this process's children. So the remaining processes of a child that kills its
    /// supervisor can be ended. Also call ``reapOrphans()``. Before other threads start.
    package static func adoptOrphans() throws(SystemError) {
        try SystemError.check(clinux_orphans_adopt(), "adopt orphaned processes")
    }

    /// Reaps processes that became this one's children because it is PID 1 or adopts them, so that none stays a zombie.
    /// The loop calls it at each ``Signal/childEnded``. Children of ``run(_:environment:timeout:cancel:)`` are not touched.
    package static func reapOrphans() {
        clinux_orphans_reap()
    }

    /// Ends the background processes that have stopped their supervisor, which could not end them with this process. Others it
    /// does end.
    ///
    /// - Parameter milliseconds: how long to wait for them.
    package static func endStoppedBackgroundProcesses(within milliseconds: Int64) {
        if clinux_stopped_holders_kill() { SupervisedChild.endOrphans(within: milliseconds) }
    }

    /// Has the background processes of children that ended by themselves go on after this process.
    package static func releaseBackgroundProcesses() {
        clinux_children_release()
    }
}

extension ChildProcess {
    /// How long a child may take to end after `body`, in milliseconds.
    private static let parting: Int64 = 2_000

    /// Starts `arguments` with a stream as standard input, passes its other end to `body`, and then waits for the
    /// child's end, as ``run(_:environment:timeout:cancel:)`` does.
    ///
    /// Throws when the program could not be started.
    /// - Parameter milliseconds: until the stream's deadline.
    package static func exchange<Value>(
        with arguments: [String], environment: [String: String], milliseconds: Int64, cancel: EventCounter?,
        _ body: (inout UnixStream) -> Value
    ) throws(SystemError) -> (value: Value, report: ExitReport) {
        var ends: (near: Int32, far: Int32) = (-1, -1)
        try SystemError.check(unsafe clinux_stream_pair(&ends.near, &ends.far), "make a socket")
        let near = Descriptor(adopting: ends.near)
        var child = try start(arguments, environment, input: Descriptor(adopting: ends.far))
        let value = exchange(UnixStream(adopting: near, milliseconds: milliseconds, cancel: cancel), body)
        let interruption = child.wait(milliseconds: parting, cancel: -1)
        let ending = try child.end(after: interruption)
        return (value, child.output.report(ending))
    }

    /// Closes `input` here: only the child has it, so the other end sees it close.
    private static func start(
        _ arguments: [String], _ environment: [String: String], input: consuming Descriptor
    ) throws(SystemError) -> SupervisedChild {
        try SupervisedChild(arguments, environment: environment, input: input.raw)
    }

    private static func exchange<Value>(
        _ stream: consuming UnixStream, _ body: (inout UnixStream) -> Value
    ) -> Value {
        body(&stream)
    }
}
