import Foundation
import TestSupport
import Testing

/// What happens to the state directory under a daemon that runs on.
@Suite(.waits) struct StateDirectoryFaultTests {
    /// It would be judged by a clock that has run since the machine's start.
    @Test func oneThatCanBeUsedLateIsGivenHowLongTheClockHasRun() throws {
        let sandbox = try Sandbox(clients: "web")
        try FileManager.default.removeItem(atPath: sandbox.state)
        try sandbox.directory.write("", to: "state")
        try sandbox.start()
        try FileManager.default.removeItem(atPath: sandbox.state)
        try sandbox.eventually("how long the clock has run") {
            let kept = try? sandbox.directory.read("state/boot").split(separator: " ")
            return kept.flatMap { $0.count > 1 ? Int64($0[1]) : nil }.map { $0 > 0 } == true
        }
    }

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
        // It is locked, and a start with nothing but it finds the secrets.
        try sandbox.eventually("the lock") {
            try run(["flock", "--nonblock", sandbox.state + "/lock", "true"]).status == 1
        }
        #expect(try sandbox.command("run", "--once").status == 75)
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(sandbox.stop() == 0)
        for name in ["native", "web"] {
            try FileManager.default.removeItem(atPath: sandbox.directory("out/\(name).jwt"))
        }
        #expect(try sandbox.command("run", "--once").status == 0)
        #expect(try ["native", "web"].map { try sandbox.directory.read("out/\($0).jwt") } == tokens)
    }
}
