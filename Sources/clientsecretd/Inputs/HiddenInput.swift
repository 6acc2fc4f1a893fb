import Glibc

/// Reads a line from the terminal, which does not show it. However the program ends or is stopped meanwhile, the terminal is
/// left as it was found.
enum HiddenInput {
    /// What is typed after a question, without the end of its line. Where a signal ends the program, this does not return.
    static func line(_ question: String, longest: Int) -> [UInt8] {
        unsafe tcgetattr(STDIN_FILENO, &before)
        unsafe silent = before
        // Without canonical mode a line may be longer than 4,095 bytes, as an answer with an identity token is.
        unsafe silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
        for number in ending { signal(number, giveBackAndEnd) }
        signal(SIGTSTP, giveBackAndStop)
        // Before the question: what is typed until then is discarded.
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        _ = CommandOutput.write(Array("\(question): ".utf8), to: STDERR_FILENO)
        let line = read(atMost: longest)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
        for number in ending + [SIGTSTP] { signal(number, SIG_DFL) }
        _ = CommandOutput.write([UInt8(ascii: "\n")], to: STDERR_FILENO)
        return line
    }

    private static func read(atMost longest: Int) -> [UInt8] {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < longest, unsafe Glibc.read(STDIN_FILENO, &byte, 1) == 1 {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), 4: return line
            // Backspace, in either form.
            case 8, 127: _ = line.popLast()
            default: line.append(byte)
            }
        }
        return line
    }

    private static let ending = [SIGINT, SIGTERM, SIGQUIT, SIGHUP]

    // Signal handlers use them: nothing may be allocated there, and tcsetattr may be called (signal-safety(7)).
    nonisolated(unsafe) private static var before = termios()
    nonisolated(unsafe) private static var silent = termios()

    private static let giveBackAndEnd: @convention(c) (Int32) -> Void = { number in
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
        signal(number, SIG_DFL)
        // Delivered when this handler returns: the parent process sees which signal ended the program.
        raise(number)
    }

    private static let giveBackAndStop: @convention(c) (Int32) -> Void = { _ in
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
        raise(SIGSTOP)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &silent)
    }
}
