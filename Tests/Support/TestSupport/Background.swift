package import Foundation

/// A program that runs beside a test until this value is released, and that may be asked and answer in lines.
///
/// It inherits nothing: what ends with another program's end is noticed only once nobody has open any more what that one had
/// open, and one that was started meanwhile and runs for long would have it.
package final class Background {
    /// The first line that it wrote, without its end; empty where that was not waited for.
    package private(set) var firstLine = ""
    package let processID: pid_t
    private let input = Pipe()
    private let output = Pipe()
    private let last: String?
    private var rest = Data()

    /// The program has ended; what it said last.
    package struct Ended: Error { package let words: String }

    /// A script that executes its arguments with nothing open but the standard descriptors.
    package static let alone = """
        for descriptor in /proc/self/fd/*; do
            number=${descriptor##*/}
            if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
        done
        exec "$@"
        """

    /// - Parameters:
    ///   - environment: what is added to the tests' environment.
    ///   - last: the line after which it ends by itself, which is then waited for; without one it is killed.
    ///   - waiting: whether to return once it has written a line, or has ended.
    package init(
        _ arguments: [String], environment: [String: String] = [:], last: String? = nil, waiting: Bool = true
    ) throws {
        self.last = last
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        let command =
            ["/bin/bash", "-c", Self.alone, "bash", "env"] + environment.map { "\($0.key)=\($0.value)" } + arguments
        var words = unsafe command.map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var process: pid_t = 0
        let failed = unsafe posix_spawn(&process, command[0], &actions, nil, words, environ)
        guard failed == 0 else { throw POSIXError(.init(rawValue: failed) ?? .EIO) }
        processID = process
        try output.fileHandleForWriting.close()
        guard waiting else { return }
        do {
            firstLine = String(decoding: try nextLine(), as: UTF8.self)
        } catch let ended as Ended {
            firstLine = ended.words
        }
    }

    deinit {
        if let last { try? write(last) }
        // A program started meanwhile may have the pipe open as well, so a signal, too; others may be blocked.
        try? input.fileHandleForWriting.close()
        if last == nil { kill(processID, SIGKILL) }
        while waitpid(processID, nil, 0) < 0, errno == EINTR {}
    }

    /// Whether it has written something, or has ended, since the last line.
    package var hasMore: Bool {
        if !rest.isEmpty { return true }
        var wanted = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wanted, 1, 0) > 0
    }

    /// Writes a line. To a program that has ended it goes nowhere, because the other end of its input is open here, too.
    package func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The next line that it writes, without its end.
    package func nextLine() throws -> [UInt8] {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return Array(rest[..<end])
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw Ended(words: String(decoding: rest, as: UTF8.self)) }
            rest += more
        }
    }

    /// The next line, which is a JSON object.
    package func next() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(nextLine())) as? [String: Any] ?? [:]
    }
}
