import Foundation
import TestSupport
import Testing

/// What happens to the state directory under a daemon that runs on.
@Suite(.waits) struct StateDirectoryFaultTests {
    /// What the daemon knows is newer than any backup.
    @Test func aStateDirectoryThatIsReplacedByABackupIsBroughtUpToDate() throws {
        let sandbox = try Sandbox.running("web", "native")
        try #require(run(["cp", "-a", sandbox.state, sandbox.directory("backup")]).status == 0)
        #expect(try sandbox.command("renew").status == 0)
        let record = try sandbox.directory.read("state/clients/web.state")
        let tokens = try ["native", "web"].map { try sandbox.directory.read("out/\($0).jwt") }
        try FileManager.default.moveItem(atPath: sandbox.state, toPath: sandbox.directory("away"))
        try FileManager.default.moveItem(atPath: sandbox.directory("backup"), toPath: sandbox.state)
        try sandbox.eventually("the newer record in place of the backup's") {
            try sandbox.directory.read("state/clients/web.state") == record
        }
        #expect(try ["native", "web"].map { try sandbox.directory.read("out/\($0).jwt") } == tokens)
        try expectHealed(sandbox, "native", "web")
    }

    @Test func aStateDirectoryThatAnotherDaemonHasTakenIsWaitedFor() throws {
        let sandbox = try Sandbox.running("web", "native")
        let place = sandbox.directory("other")
        try sandbox.makeDirectory("other")
        var other: Background? = try Background(
            ["flock", "--no-fork", place + "/lock", "sleep", "600"], waiting: false)
        try sandbox.eventually("the other's lock") { try isLocked(place) }
        try FileManager.default.moveItem(atPath: sandbox.state, toPath: sandbox.directory("away"))
        try FileManager.default.moveItem(atPath: place, toPath: sandbox.state)
        try sandbox.eventually("that another holds it is said") {
            try sandbox.command("status").output.contains("another daemon uses the state directory")
        }
        #expect(!FileManager.default.fileExists(atPath: sandbox.state + "/clients/web.state"))
        let before = try sandbox.directory.read("out/web.jwt")
        #expect(try sandbox.command("renew", "web").status == 0)
        #expect(try sandbox.directory.read("out/web.jwt") != before)
        #expect(other != nil)
        other = nil
        try sandbox.recovers("the other had ended")
        try expectHealed(sandbox, "native", "web")
    }

    private func isLocked(_ directory: String) throws -> Bool {
        try run(["flock", "--nonblock", directory + "/lock", "true"]).status == 1
    }

    /// The state directory holds these clients' records and is locked, and a start with nothing but it finds the secrets.
    private func expectHealed(_ sandbox: Sandbox, _ clients: String...) throws {
        try sandbox.eventually("the state directory is whole and locked") {
            let isWhole = clients.allSatisfy {
                FileManager.default.fileExists(atPath: sandbox.state + "/clients/\($0).state")
            }
            return try isWhole && isLocked(sandbox.state)
        }
        #expect(try sandbox.command("run", "--once").status == 75)
        #expect(try sandbox.status()["state"] as? String == "ok")
        let tokens = try clients.map { try sandbox.directory.read("out/\($0).jwt") }
        #expect(sandbox.stop() == 0)
        for client in clients { try FileManager.default.removeItem(atPath: sandbox.directory("out/\(client).jwt")) }
        #expect(try sandbox.command("run", "--once").status == 0)
        #expect(try clients.map { try sandbox.directory.read("out/\($0).jwt") } == tokens)
    }
}
