import Failures
import Glibc

/// Standard output and standard error: answers go to the one, complaints to the other.
enum Streams {
    static func answer(_ text: String) throws(CommandFailure) {
        try answer(bytes: Array((text + "\n").utf8))
    }

    static func answer(bytes: [UInt8]) throws(CommandFailure) {
        guard let errno = write(bytes, to: STDOUT_FILENO) else { return }
        if errno == EPIPE { endUnread() }
        throw CommandFailure(.failed, "cannot write to standard output: \(text(ofErrno: errno))")
    }

    /// Says `message` in the program's name. Nothing is left to do when standard error cannot be written.
    static func complain(_ message: String) {
        complain(lines: "clientsecretd: " + message)
    }

    /// Lines that name what they are about themselves, such as diagnostics. A terminal acts on nothing in them.
    static func complain(lines: String) {
        _ = write(Array((Printable.lines(lines) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Ends as every program in a pipe does whose reader, such as `head`, has enough: by the signal and without a word, also
    /// where whoever started it had the signal ignored, as systemd and Python do.
    private static func endUnread() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // Only where it is blocked.
        _exit(128 + SIGPIPE)
    }

    static func text(ofErrno number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }

    /// Writes all of `bytes`; returns the error that stopped it.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
