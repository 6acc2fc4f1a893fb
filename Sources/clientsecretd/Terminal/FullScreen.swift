import Glibc

/// The terminal for as long as a picture is kept on it: a screen of its own without a cursor. What stood there before comes
/// back however the program ends, and while it is stopped.
enum FullScreen {
    static func take() {
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] { signal(number, giveBackAndEnd) }
        signal(SIGTSTP, giveBackAndStop)
        // Only so that it ends a sleep: the window has another size now.
        signal(SIGWINCH, { _ in })
        write(entering)
    }

    static func giveBack() {
        write(leaving)
    }

    // xterm's private modes 1049, the alternate screen, and 25, the cursor. Written from signal handlers: constants of the
    // program, for nothing may be allocated there (signal-safety(7)).
    private static var entering: StaticString { "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H" }
    private static var leaving: StaticString { "\u{1B}[?25h\u{1B}[?1049l" }

    private static func write(_ text: StaticString) {
        _ = unsafe Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    private static let giveBackAndEnd: @convention(c) (Int32) -> Void = { number in
        write(leaving)
        signal(number, SIG_DFL)
        // Delivered when this returns: whoever waits for the program learns what ended it.
        raise(number)
    }

    private static let giveBackAndStop: @convention(c) (Int32) -> Void = { _ in
        write(leaving)
        raise(SIGSTOP)
        write(entering)
    }
}
