import Glibc
import SystemPackage

/// A program of this project that acts for its caller: it has the caller's environment and standard error, and ends by itself.
/// Programs of others are run by ``ChildProcess``, which ends them in time.
package struct AttachedChild: ~Copyable {
    private let process: pid_t

    /// - Parameters:
    ///   - arguments: the first of which is the program's path.
    ///   - input: the child's standard input; stays open here.
    ///   - output: its standard output.
    ///   - complaints: its standard error; nil: the caller's.
    package init(
        _ arguments: [String], input: Int32, output: Int32, complaints: Int32? = nil
    ) throws(SystemError) {
        let operation = "start \(arguments.first ?? "")"
        guard let path = arguments.first, let words = CStrings(arguments) else {
            throw SystemError(operation, errno: .invalidArgument)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if let complaints { unsafe posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO) }
        var process: pid_t = 0
        let failed = unsafe words.withPointers { words in
            unsafe posix_spawn(&process, path, &actions, nil, words, environ)
        }
        guard failed == 0 else { throw SystemError(operation, errno: Errno(rawValue: failed)) }
        self.process = process
    }

    /// Waits for its end.
    package consuming func end() -> ExitReport.Ending {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        // WIFSIGNALED and WEXITSTATUS (wait(2)), which are macros.
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
}
