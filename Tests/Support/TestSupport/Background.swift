import Foundation

/// A program that runs beside a test until this value is released, which its standard input's end tells it.
///
/// It inherits nothing: a `Process` that ends is noticed only once nobody has open any more what it had open, and another
/// one that was started meanwhile and runs for long would have it.
package final class Background {
    /// The first line that it wrote, without its end.
    package let firstLine: String
    private let process: pid_t
    private let input: FileHandle

    private static let alone = """
        for descriptor in /proc/self/fd/*; do
            number=${descriptor##*/}
            if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
        done
        exec "$@"
        """

    /// Returns once it has written a line, or has ended.
    package init(_ arguments: [String]) throws {
        let input = Pipe()
        let output = Pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        let command = ["/bin/bash", "-c", Self.alone, "bash"] + arguments
        var words = unsafe command.map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var process: pid_t = 0
        let failed = unsafe posix_spawn(&process, command[0], &actions, nil, words, environ)
        guard failed == 0 else { throw POSIXError(.init(rawValue: failed) ?? .EIO) }
        self.process = process
        self.input = input.fileHandleForWriting
        try output.fileHandleForWriting.close()
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += more
        }
        firstLine = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    deinit {
        // A program started meanwhile may have the pipe open as well, so a signal, too; others may be blocked.
        try? input.close()
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }
}
