import Glibc

/// The terminal's alternate screen, without a cursor, while a display is redrawn on it. The previous content is
/// restored when the program ends, by a signal too, and while it is stopped.
enum FullScreen {
    static func take() {
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] { signal(number, giveBackAndEnd) }
        signal(SIGTSTP, giveBackAndStop)
        // Handled only to interrupt `sleep`, as the window has another size now.
        signal(SIGWINCH, { _ in })
        write(entering)
    }

    static func giveBack() {
        write(leaving)
    }

    // xterm's private modes 1049, the alternate screen, and 25, the cursor. Signal handlers write them, so they are
    // constants: nothing may be allocated there (signal-safety(7)).
    private static var entering: StaticString { "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H" }
    private static var leaving: StaticString { "\u{1B}[?25h\u{1B}[?1049l" }

    private static func write(_ text: StaticString) {
        _ = unsafe Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    private static let giveBackAndEnd: @convention(c) (Int32) -> Void = { number in
        write(leaving)
        signal(number, SIG_DFL)
        // Delivered when this handler returns: the parent process sees which signal ended the program.
        raise(number)
    }

    private static let giveBackAndStop: @convention(c) (Int32) -> Void = { _ in
        write(leaving)
        raise(SIGSTOP)
        write(entering)
    }
}
