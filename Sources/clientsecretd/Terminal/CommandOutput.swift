import Failures
import Glibc
import Linux
import SystemPackage

/// Writes answers to standard output, and errors and warnings to standard error.
enum CommandOutput {
    static func answer(_ text: String) throws(CommandFailure) {
        try answer(bytes: Array((text + "\n").utf8))
    }

    /// Lines, as standard output can show them.
    static func answer(lines: [String]) throws(CommandFailure) {
        let terminal = Terminal.current()
        try answer(lines.map(terminal.shown).joined(separator: "\n"))
    }

    static func answer(_ report: (Terminal) -> [[Piece]]) throws(CommandFailure) {
        let terminal = Terminal.current()
        try answer(report(terminal).map(terminal.line).joined(separator: "\n"))
    }

    static func answer(bytes: [UInt8]) throws(CommandFailure) {
        guard let errno = Descriptor.write(bytes, to: STDOUT_FILENO) else { return }
        if errno == .brokenPipe { endUnread() }
        throw CommandFailure(.failed, "cannot write to standard output: \(errno)")
    }

    /// Writes `message` after the program's name. A failure to write to standard error is ignored.
    static func complain(_ message: String) {
        complain(lines: "clientsecretd: " + message)
    }

    /// Writes lines without the program's name, such as diagnostics; escapes the characters that a terminal would act on.
    static func complain(lines: String) {
        _ = Descriptor.write(Array((Printable.lines(lines) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Names the paths that did not answer and the omitted parts, after an answer that is complete without them.
    static func complainOfGaps() {
        for path in DiskTimeout.silent {
            complain("\(Printable.name(path)): \(DiskTimeout.words), so what depends on it is not known")
        }
        if let shortfall = ProcessLook.shortfall { complain("\(shortfall), so not everything was looked at") }
    }

    /// Ends the process.
    static func end(_ code: Int32) -> Never {
        // A path that did not answer still holds up a thread, in libraries that exit(3) takes apart.
        guard DiskTimeout.silent.isEmpty else { CommandProcess.abandon(code) }
        exit(code)
    }

    /// Ends silently and by the signal, as programs in a pipe do if their reader, such as `head`, has closed it. It does so even
    /// if the parent process had the signal ignored, as systemd and Python do.
    private static func endUnread() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // Reached only if the signal is blocked.
        _exit(128 + SIGPIPE)
    }
}
