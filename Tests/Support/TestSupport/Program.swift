package import Foundation

/// The exit status and output of a program that a test ran.
package struct Finished: Sendable {
    package let status: Int32
    package let output: String
    package let complaints: String
}

/// Runs `arguments` (the first is found in PATH) to its end and collects what it wrote.
///
/// - Parameter environment: added to the test's own.
package func run(
    _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil
) throws -> Finished {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    // Files instead of pipes: nothing can fill up while nobody reads.
    let scratch = try TemporaryDirectory()
    for name in ["in", "out", "err"] { try scratch.write("", to: name) }
    try input.write(to: URL(fileURLWithPath: scratch("in")))
    let standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("in")))
    let standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch("out")))
    let standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch("err")))
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    try process.run()
    let status = process.awaitEnd()
    for handle in [standardInput, standardOutput, standardError] { try handle.close() }
    return Finished(status: status, output: try scratch.read("out"), complaints: try scratch.read("err"))
}

/// Runs a program that has to succeed, and returns what it prints.
@discardableResult
package func runToSuccess(
    _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil
) throws -> String {
    let finished = try run(arguments, input: input, environment: environment, directory: directory)
    guard finished.status == 0 else { throw TestFailure("\(arguments): \(finished)") }
    return finished.output
}

extension Process {
    /// Waits until it has ended, and returns its exit status, or 128 more than the signal that has ended it.
    ///
    /// For `waitUntilExit`, a process has ended once nobody has a certain descriptor open any more. A program that is started
    /// at the same moment may inherit that, and may run for long.
    @discardableResult
    package func awaitEnd() -> Int32 {
        var end = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processIdentifier), &end, WEXITED | WNOWAIT) != 0 {
            if errno == EINTR { continue }
            // It was noticed that it has ended.
            waitUntilExit()
            return terminationReason == .exit ? terminationStatus : 128 + terminationStatus
        }
        let status = unsafe end._sifields._sigchld.si_status
        return unsafe end.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }

    /// Whether it has ended, by the same reckoning.
    package var hasEnded: Bool {
        var end = unsafe siginfo_t()
        let asked = unsafe waitid(P_PID, id_t(processIdentifier), &end, WEXITED | WNOWAIT | WNOHANG)
        return asked != 0 || (unsafe end._sifields._sigchld.si_pid) != 0
    }
}

/// Where the repository is: the tests read data and scripts from it.
package let repository: String =
    ProcessInfo.processInfo.environment["CLIENTSECRETD_REPOSITORY"]
    ?? (0..<4).reduce(URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()) { url, _ in
        url.deletingLastPathComponent()
    }
    .path

/// The Python of the virtual environment that `make deps` makes, with PyJWT and python-dotenv in it.
package let python = repository + "/.build/venv/bin/python"

/// Copies a program that is to be started there. Another process writes the copy: a child that another test starts meanwhile would
/// have it open for writing, and a program that is open for writing cannot be executed.
package func copyProgram(_ program: String, to path: String) throws {
    try runToSuccess(["cp", program, path])
}

/// Something that a test needs could not be had.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
