import Foundation
import TestSupport
import Testing

/// A log that nobody reads: a pipe to a program that hangs, as a container's may.
@Suite(.waits) struct UnreadLogTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// What lies in the pipe.
    private func drain(_ pipe: Int32) -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(pipe, &part, part.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += part.prefix(count)
        }
    }

    @Test func everythingElseGoesOn() throws {
        // Their lines are more than a pipe holds, which is 64 KiB.
        try sandbox.configure((1...500).map { sandbox.client("c\($0)") }.joined())
        let path = sandbox.directory("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let pipe = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        try sandbox.start(under: ["sh", "-c", #"exec "$@" 2>"$0""#, path])
        try sandbox.succeed("renew", "c1")
        let read = drain(pipe)
        #expect(read.utf8.count > 60_000 && read.hasSuffix("\n"))
        #expect(!read.contains("are lost"))
        try sandbox.succeed("renew", "c1")
        let after = drain(pipe)
        let lost = try #require(after.firstMatch(of: /(\d+) log events before the last one are lost/))
        #expect(try #require(Int(lost.output.1)) > 100)
        #expect(after.contains("c1: minted"))
        #expect(after.matches(of: /are lost/).count == 1)
        kill(try #require(sandbox.processID), SIGTERM)
        try sandbox.eventually("the end", within: 30) { !sandbox.isRunning }
        #expect(sandbox.stop(SIGKILL) == 0)
    }
}
