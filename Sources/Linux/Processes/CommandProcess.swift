import CLinux
internal import Glibc

/// The process that carries out a command, so that the one which the caller waits for ends with the answer: a thread of this one
/// may wait for a file system for ever, and nothing ends a process that has such a thread.
package enum CommandProcess {
    private static let report = QuietMutex<Int32>(-1)

    /// Goes on in a child of this process, which ends as soon as the child does or ``abandon(_:)`` was called. Without a further
    /// process this one goes on.
    ///
    /// Before any thread is started and any mutex is locked: Swift's `Mutex` remembers the number of the thread that first locked
    /// one, which is another in the child. There two threads would then wait for each other without end.
    package static func begin() {
        let descriptor = clinux_command_begin()
        report.withLock { $0 = descriptor }
    }

    /// Ends the process, although a thread may wait for a file system.
    package static func abandon(_ code: Int32) -> Never {
        fflush(nil)
        report.withLock { report in
            guard report >= 0 else { return }
            // A thread that stays would keep the caller's pipes open, and the caller reads them to the end.
            let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
            if null >= 0 { for number in STDIN_FILENO...STDERR_FILENO { _ = dup2(null, number) } }
            var byte = UInt8(truncatingIfNeeded: code)
            _ = unsafe write(report, &byte, 1)
        }
        _exit(code)
    }
}
