import Foundation
import TestSupport
import Testing

/// A server of somebody else's that a test has run on a loopback port: ended with the value.
final class HTTPProgram {
    private let port: UInt16
    private let process: Process
    private let directory: TemporaryDirectory

    /// Starts what `arguments` makes of a port, and waits until it answers at `path`.
    init(answering path: String, _ arguments: (UInt16) throws -> [String]) throws {
        directory = try TemporaryDirectory()
        // Between finding a port and listening at it somebody else may take it.
        for _ in 0..<5 {
            let port = try Self.freePort()
            let process = try Self.start(try arguments(port), log: try directory.write("", to: "log"))
            for _ in 0..<600 where !process.hasEnded {
                if try Self.get("http://127.0.0.1:\(port)\(path)") != nil {
                    self.port = port
                    self.process = process
                    return
                }
                usleep(100_000)
            }
            kill(process.processIdentifier, SIGKILL)
            process.awaitEnd()
        }
        throw Failure(log: try directory.read("log"))
    }

    private struct Failure: Error {
        let log: String
    }

    deinit {
        // Children inherit blocked signals from the tests' process.
        kill(process.processIdentifier, SIGKILL)
        process.awaitEnd()
    }

    /// What it answers with; nil when that is no success.
    func get(_ target: String) throws -> String? {
        try Self.get("http://127.0.0.1:\(port)\(target)")
    }

    private static func get(_ address: String) throws -> String? {
        let answer = try run(["curl", "--silent", "--fail", "--globoff", "--max-time", "10", address])
        return answer.status == 0 ? answer.output : nil
    }

    private static func start(_ arguments: [String], log: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        try handle.close()
        return process
    }

    private static func freePort() throws -> UInt16 {
        let script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
        return try #require(UInt16(try run(["/usr/bin/python3", "-c", script]).output.dropLast()))
    }
}

/// Where a Debian program lies that may have been unpacked instead of installed (`make test-deps`).
func unpacked(_ program: String, of package: String) -> String {
    let path = "\(repository)/.build/\(package)/\(program)"
    return FileManager.default.isExecutableFile(atPath: path) ? path : "/" + program
}
