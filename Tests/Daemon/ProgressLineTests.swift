import Foundation
import TestSupport
import Testing

@testable import Daemon

/// The line below the log that says how far a start has come.
@Suite struct ProgressLineTests {
    /// What has come out of a terminal's other end.
    private func read(_ terminal: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(terminal, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test func itStaysBelowWhatIsLogged() throws {
        var (outer, inner): (Int32, Int32) = (-1, -1)
        try #require(unsafe openpty(&outer, &inner, nil, nil, nil) == 0)
        defer { for descriptor in [outer, inner] { close(descriptor) } }
        let line = try #require(ProgressLine(on: inner, environment: ["TERM": "xterm"]))
        line.write(above: "one\n")
        #expect(read(outer) == "one\r\n")
        line.show("publishing 1 of 3 secrets")
        #expect(read(outer) == "\r\u{1B}[Kpublishing 1 of 3 secrets")
        // Written over, and written again below.
        line.write(above: "two\n")
        #expect(read(outer) == "\r\u{1B}[Ktwo\r\npublishing 1 of 3 secrets")
        line.show("publishing 1 of 3 secrets")
        line.show("")
        #expect(read(outer) == "\r\u{1B}[K")
        line.write(above: "three\n")
        #expect(read(outer) == "three\r\n")
        #expect(ProgressLine(on: inner, environment: ["TERM": "dumb"]) == nil)
    }

    @Test func aPipeHasNone() {
        let pipe = Pipe()
        #expect(
            ProgressLine(on: pipe.fileHandleForWriting.fileDescriptor, environment: ["TERM": "xterm"]) == nil)
    }

    @Test(arguments: [(0, 1, "publishing 0 of 1 secret"), (1_234, 10_000, "publishing 1,234 of 10,000 secrets")])
    func itCounts(done: Int, count: Int, words: String) {
        #expect(Progress(done: done, count: count).words == words)
    }
}
