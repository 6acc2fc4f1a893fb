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

    /// Commands look in the configured one.
    @Test func aReloadThatNamesAnotherOneMovesThere() throws {
        let sandbox = try Sandbox.running("web")
        try sandbox.configure(sandbox.client("web"), stateDirectory: sandbox.directory("other"))
        try sandbox.succeed("reload")
        try sandbox.eventually("its record") { sandbox.isThere("other/clients/web.state") }
        #expect(try sandbox.command("run", "--once").status == 75)
        try runToSuccess(["flock", "--nonblock", sandbox.state + "/lock", "true"])
        // It is watched, too.
        try sandbox.remove("other")
        try sandbox.eventually("its record again") { sandbox.isThere("other/clients/web.state") }
        try sandbox.directory.write("", to: "file")
        try sandbox.configure(sandbox.client("web"), stateDirectory: sandbox.directory("file"))
        _ = try sandbox.command("reload")
        try sandbox.eventually("one that cannot be used") { try sandbox.status()["state"] as? String == "degraded" }
        #expect(try sandbox.command("health").output.contains("the state directory cannot be used"))
        #expect(try sandbox.command("health", "--offline").status == 1)
    }

    /// Two daemons would undo each other's work.
    @Test(.needs(.root)) func oneThatIsReadOnlyIsOneDaemonsAllTheSame() throws {
        let sandbox = try Sandbox()
        let disk = try FaultDisk(inMemory: sandbox, kilobytes: 512)
        defer { disk.end() }
        try sandbox.configure(sandbox.client("web"), stateDirectory: disk.path)
        func mount(_ mode: String) throws { try runToSuccess(["mount", "-o", "remount,\(mode)", disk.path]) }
        func expectOne(_ state: String) throws {
            try sandbox.eventually(state) { try sandbox.status()["state"] as? String == state }
            #expect(try sandbox.command("run", "--once").status == 75)
        }
        // Without a lock file, and with one.
        for _ in 1...2 {
            try mount("ro")
            try sandbox.start()
            try expectOne("degraded")
            try mount("rw")
            try expectOne("ok")
            #expect(sandbox.stop() == 0)
        }
    }
}
