import CLinux

/// Starts a thread that runs one closure and ends. Signals are blocked on it.
package enum WorkerThread {
    /// Bytes: jobs do not call deeply, and many stuck threads must stay cheap.
    private static let stackSize = 512 * 1024

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Throws `.resourceTemporarilyUnavailable` when a limit on threads was reached, and `.noMemory` without memory for the stack.
    package static func start(_ run: @escaping @Sendable () -> Void) throws(SystemError) {
        try start(stackSize: stackSize, run)
    }

    static func start(stackSize: Int, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
        let body = unsafe Unmanaged.passRetained(Body(run))
        let result = unsafe clinux_thread_start(
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, body.toOpaque(), stackSize)
        if result < 0 { unsafe body.release() }
        try SystemError.check(result, "start a thread")
    }
}
