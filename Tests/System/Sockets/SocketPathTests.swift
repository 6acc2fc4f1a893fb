import Foundation
import TestSupport
import Testing

/// What lies where the status socket shall be.
@Suite(.waits) struct SocketPathTests {
    private func identity(of path: String) throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
    }

    /// The log and the service manager are told that the socket cannot be used.
    private func expectUnusable(_ socket: String, of sandbox: Sandbox, _ words: String) throws {
        let words = "\(socket): the socket cannot be used " + words
        #expect(try sandbox.log().contains(words))
        try sandbox.eventually("the word to the service manager") { sandbox.told("STATUS") == "degraded: " + words }
    }

    /// Who runs two needs two: the second does its work, and says where it cannot be asked.
    @Test func aSocketThatAnotherDaemonListensOnStaysThere() throws {
        let first = try Sandbox()
        try first.configure(first.client("first"))
        try first.start()
        let socket = try identity(of: first.socket)
        let second = try Sandbox()
        second.socket = first.socket
        try second.configure(second.client("second"))
        try second.start()
        try second.claims(of: second.published("second"))
        try expectUnusable(
            first.socket, of: second, "(address in use); stop the program that listens there, or use another --socket")
        for _ in 0..<2 {
            // Before and after the second one's end.
            #expect(try first.status()["state"] as? String == "ok")
            #expect(try first.command("status").output.contains("first"))
            #expect(try identity(of: first.socket) == socket)
            second.stop()
        }
    }

    /// Of every other kind, too: `Linux.UnixSocketTests`.
    @Test func aFileThatIsNoSocketStays() throws {
        let sandbox = try Sandbox(clients: "web")
        try sandbox.directory.write("precious", to: "status.sock")
        let before = try identity(of: sandbox.socket)
        try sandbox.start()
        try sandbox.claims(of: sandbox.published())
        try expectUnusable(
            sandbox.socket, of: sandbox,
            "(not a socket); remove the file there, or name another socket with --socket, and restart the daemon")
        #expect(sandbox.stop() == 0)
        #expect(try identity(of: sandbox.socket) == before)
    }
}
