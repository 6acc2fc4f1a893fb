import Foundation

/// A program that is asked and answers in lines, and ends with its input or this value.
package final class Lines {
    /// The program has ended; what it said last.
    package struct Ended: Error { package let words: String }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()
    private let last: String?
    /// Another reading end: without one, what is written to a program that has ended would end the tests by SIGPIPE.
    private let reading: FileHandle

    /// - Parameters:
    ///   - last: the line that ends it; without one a signal does.
    ///   - environment: what its environment has besides the tests' own.
    package init(_ arguments: [String], last: String? = nil, environment: [String: String] = [:]) throws {
        self.last = last
        reading = FileHandle(
            fileDescriptor: fcntl(input.fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0), closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        // A program started meanwhile may have the pipe open as well, so that its end does not come.
        if let last { try? write(last) } else { process.terminate() }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    package var processID: Int32 { process.processIdentifier }

    /// Whether it has written something, or has ended, since the last line.
    package var hasMore: Bool {
        if !rest.isEmpty { return true }
        var wanted = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wanted, 1, 0) > 0
    }

    /// Writes a line.
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
