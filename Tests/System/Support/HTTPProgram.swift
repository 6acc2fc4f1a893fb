import Foundation
import TestSupport
import Testing

/// A server of somebody else's that a test has run on a loopback port: ended with the value.
final class HTTPProgram {
    private let port: UInt16
    private let process: Background

    /// Starts what `arguments` makes of a port, and waits until it answers at `path`.
    init(answering path: String, _ arguments: (UInt16) throws -> [String]) throws {
        let directory = try TemporaryDirectory()
        let log = try directory.write("", to: "log")
        // Between finding a port and listening at it somebody else may take it.
        for _ in 0..<5 {
            let port = try Self.freePort()
            // It writes nothing to standard output, which is closed when it ends.
            let process = try Background(["sh", "-c", #"exec "$@" 2>"$0""#, log] + arguments(port), waiting: false)
            for _ in 0..<600 where !process.hasMore {
                if try Self.get("http://127.0.0.1:\(port)\(path)") != nil {
                    self.port = port
                    self.process = process
                    return
                }
                usleep(100_000)
            }
        }
        throw TestFailure(try directory.read("log"))
    }

    /// What it answers with; nil when that is no success.
    func get(_ target: String) throws -> String? {
        try Self.get("http://127.0.0.1:\(port)\(target)")
    }

    private static func get(_ address: String) throws -> String? {
        let answer = try run(["curl", "--silent", "--fail", "--globoff", "--max-time", "10", address])
        return answer.status == 0 ? answer.output : nil
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
