import Failures
import Glibc
import Linux
import SystemPackage

/// Another program as a child, with this one's rights and environment.
enum PipedProgram {
    /// In bytes: an answer of 1 MiB whose every byte needs an escape, and its surroundings.
    private static let longestOutput = 8 << 20

    /// Runs it to its end with this input.
    ///
    /// - Parameters:
    ///   - words: the program's path, then its arguments.
    ///   - isQuiet: whether its standard error is dropped; else it goes to this one's.
    /// - Returns: how it ended, and its standard output; nil if that is too long.
    static func run(
        _ words: [String], input bytes: [UInt8], isQuiet: Bool = false
    ) throws(CommandFailure) -> (ending: ExitReport.Ending, output: [UInt8]?) {
        let input = try pipe()
        let output = try pipe()
        let nowhere = isQuiet ? unsafe open("/dev/null", O_WRONLY | O_CLOEXEC) : -1
        defer { if isQuiet { close(nowhere) } }
        let child: AttachedChild
        do throws(SystemError) {
            child = try AttachedChild(
                words, input: input.reading, output: output.writing, complaints: isQuiet ? nowhere : nil)
        } catch {
            throw CommandFailure(
                .failed,
                "\(Printable.name(words.first ?? "")) cannot be run: \(Errno(rawValue: error.number))")
        }
        // Otherwise both ends would never be seen to close.
        close(input.reading)
        close(output.writing)
        // A child that ends early is known by its answer.
        signal(SIGPIPE, SIG_IGN)
        _ = Descriptor.write(bytes, to: input.writing)
        signal(SIGPIPE, SIG_DFL)
        close(input.writing)
        let answer = try? Descriptor.read(output.reading, atMost: longestOutput)
        // Before its end is awaited: a child with more to print waits for a reader as long as there may be one.
        close(output.reading)
        return (child.end(), answer)
    }

    private static func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else {
            throw CommandFailure(.failed, "cannot create a pipe: \(Errno(rawValue: errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
