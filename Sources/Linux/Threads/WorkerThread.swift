import CLinux

/// A thread of its own for a closure; it ends with it. Signals are blocked on it.
package enum WorkerThread {
    /// Jobs call shallow code only; a fixed stack keeps many stuck ones cheap.
    private static let stackSize = 512 * 1024

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    package static func start(_ run: @escaping @Sendable () -> Void) throws(SystemError) {
        let body = unsafe Unmanaged.passRetained(Body(run))
        let result = unsafe clinux_thread_start(
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            }, body.toOpaque(), stackSize)
        if result < 0 { unsafe body.release() }
        try SystemError.check(result, "start a thread")
    }
}
