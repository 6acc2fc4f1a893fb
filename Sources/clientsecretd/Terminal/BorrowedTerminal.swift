import Glibc

/// The terminal in another state than the program found it in. However the program ends or is stopped meanwhile, it is given
/// back as it was.
enum BorrowedTerminal {
    private static let ending = [SIGINT, SIGTERM, SIGQUIT, SIGHUP]

    // Signal handlers call them: nothing may be allocated there (signal-safety(7)).
    nonisolated(unsafe) private static var taking: @convention(c) () -> Void = {}
    nonisolated(unsafe) private static var givingBack: @convention(c) () -> Void = {}

    /// - Parameters:
    ///   - take: brings the terminal into the other state, also when the program continues.
    ///   - giveBack: brings it into the state that it was found in.
    static func take(
        _ take: @escaping @convention(c) () -> Void, givingBack giveBack: @escaping @convention(c) () -> Void
    ) {
        unsafe taking = take
        unsafe givingBack = giveBack
        for number in ending {
            signal(number) { number in
                unsafe BorrowedTerminal.givingBack()
                signal(number, SIG_DFL)
                // Delivered when this handler returns: the parent process sees which signal ended the program.
                raise(number)
            }
        }
        signal(SIGTSTP) { _ in
            unsafe BorrowedTerminal.givingBack()
            raise(SIGSTOP)
            unsafe BorrowedTerminal.taking()
        }
        take()
    }

    static func giveBack() {
        unsafe givingBack()
        for number in ending + [SIGTSTP] { signal(number, SIG_DFL) }
    }
}
