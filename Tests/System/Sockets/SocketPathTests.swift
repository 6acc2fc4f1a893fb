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

    @Test func theSocketOfAKilledDaemonIsTakenOver() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        sandbox.stop(SIGKILL)
        #expect(FileManager.default.fileExists(atPath: sandbox.socket))
        try sandbox.start()
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(sandbox.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: sandbox.socket))
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
        _ = try second.judge(try second.directory.read("out/second.jwt"))
        try expectUnusable(
            first.socket, of: second, "(address in use); stop what listens there, or name another with --socket")
        for _ in 0..<2 {
            // Before and after the second one's end.
            #expect(try first.status()["state"] as? String == "ok")
            #expect(try first.command("status").output.contains("first"))
            #expect(try identity(of: first.socket) == socket)
            second.stop()
        }
    }

    @Test(arguments: ["a file", "a directory"]) func whatIsNoSocketStays(what: String) throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        if what == "a file" {
            try sandbox.directory.write("precious", to: "status.sock")
        } else {
            try FileManager.default.createDirectory(atPath: sandbox.socket, withIntermediateDirectories: false)
        }
        let before = try identity(of: sandbox.socket)
        try sandbox.start()
        _ = try sandbox.judge(try sandbox.directory.read("out/web.jwt"))
        try expectUnusable(
            sandbox.socket, of: sandbox,
            "(not a socket); remove what lies there, or name another with --socket, and restart the daemon")
        #expect(sandbox.stop() == 0)
        #expect(try identity(of: sandbox.socket) == before)
    }

    private func access(_ path: String) throws -> [Int?] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return [attributes[.posixPermissions] as? Int, attributes[.groupOwnerAccountID] as? Int]
    }

    /// What is shown names every client and path: it is for root, the daemon's own user and those who may renew.
    @Test(.needs(.root)) func onlyTheControlGroupMayLook() throws {
        let sandbox = try Sandbox()
        let group = 54_321
        func look(groups: String) throws -> Int32 {
            try run(
                [
                    "setpriv", "--reuid=1234", "--regid=9999", groups, "/usr/bin/python3", "-c", Self.looking,
                    sandbox.socket,
                ]
            ).status
        }
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        #expect(try access(sandbox.socket)[0] == 0o600)
        #expect(try look(groups: "--groups=\(group)") == 13)
        #expect(try sandbox.command("status").status == 0)
        // Until a reload names a group, and as long as one does.
        try sandbox.configure(sandbox.client("web"), others: "control_group: \"\(group)\"")
        #expect(try sandbox.command("reload").status == 0)
        try sandbox.eventually("access for the group") { try access(sandbox.socket) == [0o660, group] }
        #expect(try look(groups: "--groups=\(group)") == 0)
        #expect(try look(groups: "--clear-groups") == 13)
        try sandbox.configure(sandbox.client("web"))
        #expect(try sandbox.command("reload").status == 0)
        try sandbox.eventually("an end of it") { try access(sandbox.socket)[0] == 0o600 }
        #expect(try look(groups: "--groups=\(group)") == 13)
        #expect(sandbox.stop() == 0)
        // And from the start.
        try sandbox.configure(sandbox.client("web"), others: "control_group: \"\(group)\"")
        try sandbox.start()
        #expect(try access(sandbox.socket) == [0o660, group])
    }

    /// Ends with the number of the error.
    private static let looking = """
        import socket, sys
        try:
            socket.socket(socket.AF_UNIX).connect(sys.argv[1])
        except OSError as error:
            sys.exit(error.errno)
        """
}
