/// Why a command did not do what it was asked: the message for standard error, and the exit code.
struct CommandFailure: Error, Equatable {
    var message: String
    var code: Code

    /// The program's exit codes, those of sysexits.h where one fits. Scripts depend on them.
    enum Code: Int32 {
        /// Anything else; for `inspect`, a secret that is not good.
        case failed = 1
        /// Usage, or a bad value of a flag.
        case usage = 64
        /// A file named by a flag cannot be read.
        case unreadable = 66
        /// The daemon is not reachable.
        case unreachable = 69
        /// Another daemon holds the state directory.
        case held = 75
        case notPermitted = 77
        /// The configuration is not accepted.
        case configuration = 78
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
