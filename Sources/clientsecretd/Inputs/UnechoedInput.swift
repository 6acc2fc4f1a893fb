import Glibc
import Linux

/// Reads a line from the terminal, which does not show it.
enum UnechoedInput {
    /// The text typed after a question, without the end of its line. If a signal ends the program, this does not return.
    static func line(_ question: String, longest: Int) -> [UInt8] {
        unsafe tcgetattr(STDIN_FILENO, &before)
        unsafe silent = before
        // Without canonical mode a line may be longer than 4,095 bytes, as an answer with an identity token is.
        unsafe silent.c_lflag &= ~tcflag_t(ECHO | ICANON)
        BorrowedTerminal.take(
            { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &UnechoedInput.silent) },
            givingBack: { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &UnechoedInput.before) })
        // Before the question: text typed until then is discarded.
        tcflush(STDIN_FILENO, TCIFLUSH)
        _ = Descriptor.write(Array("\(question): ".utf8), to: STDERR_FILENO)
        let line = read(atMost: longest)
        // After the line: the rest of a pasted text would be shown, or run by the shell.
        tcflush(STDIN_FILENO, TCIFLUSH)
        BorrowedTerminal.giveBack()
        _ = Descriptor.write([UInt8(ascii: "\n")], to: STDERR_FILENO)
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

    // Signal handlers use them, and may call tcsetattr (signal-safety(7)).
    nonisolated(unsafe) private static var before = termios()
    nonisolated(unsafe) private static var silent = termios()
}
