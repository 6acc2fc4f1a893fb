import CLinux

extension ChildProcess {
    /// How long a child may take to end after `body`, in milliseconds.
    private static let parting: Int64 = 2_000

    /// Starts `arguments` with a stream as standard input, passes its other end to `body`, and then waits for the
    /// child's end, as ``run(_:environment:timeout:cancel:)`` does.
    ///
    /// Throws when the program could not be started.
    /// - Parameter milliseconds: until the stream's deadline.
    package static func talk<Value>(
        with arguments: [String], environment: [String: String], milliseconds: Int64, cancel: EventCounter?,
        _ body: (borrowing TimedStream) -> Value
    ) throws(SystemError) -> (value: Value, report: ExitReport) {
        var near: Int32 = -1
        var far: Int32 = -1
        try SystemError.check(unsafe clinux_stream_pair(&near, &far), "make a socket")
        let stream = UnixStream(adopting: Descriptor(adopting: near))
        var child = try start(arguments, environment, input: Descriptor(adopting: far))
        let value = talk(TimedStream(stream, milliseconds: milliseconds, cancel: cancel), body)
        let interruption = child.wait(milliseconds: parting, cancel: -1)
        let ending = try child.end(after: interruption)
        return (value, child.output.report(ending))
    }

    /// Closes `input` here: only the child has it, so the other end sees it close.
    private static func start(
        _ arguments: [String], _ environment: [String: String], input: consuming Descriptor
    ) throws(SystemError) -> StartedChild {
        try StartedChild(arguments, environment: environment, input: input.raw)
    }

    private static func talk<Value>(
        _ stream: consuming TimedStream, _ body: (borrowing TimedStream) -> Value
    ) -> Value {
        body(stream)
    }
}
