import Foundation
import TestSupport
import Testing

/// A file system on which nobody who writes comes back.
@Suite(.waits, .needs(.root, .tools)) struct UnresponsiveDiskTests {
    private static func key(at path: String) -> String {
        "far: {team_id: DEF123GHIJ, key_id: XYZ123DEFG, file: \(path)}"
    }

    @Test func aFileSystemThatDoesNotRespondHoldsUpItsOwnOutputsOnly() throws {
        let sandbox = try Sandbox()
        let disk = try FaultDisk(ext4: sandbox)
        defer { disk.end() }
        try sandbox.configure(sandbox.client("web", at: disk("web.jwt")) + sandbox.client("other"))
        try sandbox.start()
        let old = try sandbox.text(disk("web.jwt"))

        try disk.freeze()
        let waiting = try sandbox.begin("renew", "web")
        try renewOther(sandbox)
        try sandbox.eventually("not responding") { try sandbox.outputs(of: "web").map(\.state) == ["not_responding"] }
        try renewOther(sandbox)
        #expect(try sandbox.client(named: "other")["state"] as? String == "ok")
        #expect(try sandbox.client(named: "web")["state"] as? String == "degraded")
        #expect(try sandbox.text(disk("web.jwt")) == old)
        try disk.thaw()
        waiting.awaitEnd()
        try sandbox.recovers("the disk answered again")
        let new = try sandbox.text(disk("web.jwt"))
        #expect(new != old)
        try sandbox.claims(of: new)

        // Stopped while it hangs: the daemon has gone as far as the kernel lets it, all but the thread that is stuck.
        try disk.freeze()
        let second = try sandbox.begin("renew", "web")
        try sandbox.eventually("not responding") { try sandbox.outputs(of: "web").map(\.state) == ["not_responding"] }
        #expect(try stuckThreads(sandbox) == 1)
        let process = try #require(sandbox.processID)
        kill(process, SIGTERM)
        try sandbox.eventually("the end") { try sandbox.text("/proc/\(process)/stat").contains(") Z ") }
        try disk.thaw()
        second.awaitEnd()
        #expect(sandbox.stop() == 0)
        #expect(try sandbox.log().contains("stopped although 1 jobs had not ended"))
        try sandbox.succeed("run", "--once")
        try sandbox.expectNoLeftovers()
    }

    @Test func aKeyAndAHookThatDoNotAnswerHoldUpTheirOwnClientOnly() throws {
        let sandbox = try Sandbox()
        let disk = try SilentDisk(sandbox)
        defer { disk.end() }
        let far = sandbox.client("far", more: "    key: far\n    on_change:\n      - exec: [\(disk("hook"))]")
        // What is reached by way of a link lies on the same file system by its name.
        try sandbox.directory.link("link", to: disk.path)
        let near = sandbox.client("near", at: sandbox.directory("link/near.jwt")) + "    key: apple\n"
        try sandbox.configure(
            sandbox.client("web", more: "    key: apple") + far + near, key: Self.key(at: disk("far.p8")))
        try sandbox.start(waiting: false)
        try sandbox.eventually("the first secret") { (try? sandbox.published()) != nil }
        #expect(try !sandbox.log().contains("not responding"), "it waited for the key that does not answer")
        try sandbox.eventually("not responding") {
            (try? sandbox.client(named: "far")["last_error"] as? String)?.contains("not responding") == true
        }
        let old = try sandbox.published()
        try sandbox.makeKey()
        try sandbox.eventually("a secret of the new key", within: 25) { try sandbox.published() != old }
        try sandbox.claims(of: sandbox.published())
        #expect(try sandbox.outputs(of: "web").map(\.state) == ["ok"])
    }

    @Test func aStateDirectoryThatDoesNotAnswerKeepsNoClientFromBeingServed() throws {
        let sandbox = try Sandbox()
        let disk = try SilentDisk(sandbox)
        defer { disk.end() }
        try sandbox.configure(sandbox.client("web"), stateDirectory: disk("state"))
        try sandbox.start(waiting: false)
        try sandbox.eventually("a secret") { (try? sandbox.published()) != nil }
        #expect(try sandbox.client(named: "web")["state"] as? String == "degraded")
    }

    /// Monitoring and the administrator get an answer about all the rest.
    @Test func commandsNameTheDiskThatDoesNotAnswerAndJudgeTheRest() throws {
        let sandbox = try Sandbox()
        let disk = try SilentDisk(sandbox)
        defer { disk.end() }
        let second = try SilentDisk(sandbox, "second")
        defer { second.end() }
        try sandbox.configure(sandbox.client("web"))
        try sandbox.succeed("run", "--once")
        let far =
            sandbox.client("far", at: disk("far.env"), variable: "SECRET")
            + "    key: far\n    on_change:\n      - exec: [\(disk("hook"))]\n"
        try sandbox.configure(sandbox.client("web", more: "    key: apple") + far, key: Self.key(at: second("far.p8")))

        let health = try sandbox.command("health", "--offline")
        #expect(
            health.status == 3 && health.output.contains("\(disk("far.env")): not responding: it did not answer within")
        )
        #expect(health.output.contains("'web'="))
        let check = try sandbox.command("check")
        #expect(check.status == 1 && check.output.contains("web: "), "\(check)")
        for path in [disk("far.env"), second("far.p8")] {
            #expect(
                check.complaints.contains("\(path): not responding: it did not answer within"), "\(check.complaints)")
        }
        // A server takes all of its exports with it: only the first is waited for as long as a busy disk may take.
        #expect(check.complaints.contains("did not answer within 5 s"), "\(check.complaints)")
        let doctor = try sandbox.command("doctor", "--skip-verify", "--json")
        let all = try #require(object(doctor.output)["clients"] as? [[String: Any]])
        #expect(all.map { $0["client"] as? String } == ["far", "web"] && doctor.status == 1, "\(doctor)")
        #expect(all.last?["broken"] is NSNull, "\(doctor)")
        #expect(doctor.complaints.contains("did not answer within"))
        let inspect = try sandbox.command("inspect", disk("far.env"))
        #expect(inspect.status == 66 && inspect.complaints.contains("did not answer within"), "\(inspect)")
    }

    /// Not even SIGKILL ends a process that waits for such a disk. Monitoring waits for the end of the one that it has started, and
    /// for the end of what it prints.
    @Test(
        arguments: [
            (["health", "--offline", "--config", "/c.yaml"], 3), (["health", "--socket", "/s.sock"], 3),
            (["health", "--offline"], 3), (["status", "--socket", "/s.sock"], 69),
            (["verify", "--config", "/c.yaml"], 3),
        ] as [([String], Int32)])
    func commandsEndAlthoughADiskKeepsTheirThreads(words: [String], status: Int32) throws {
        let sandbox = try Sandbox()
        let disks = try ["", "2", "3"].map { try SilentDisk(sandbox, "silent" + $0, isRead: true) }
        defer { for disk in disks { disk.end() } }
        try sandbox.configure(
            sandbox.client("web", at: disks[0]("web.jwt")) + sandbox.client("other", at: disks[1]("other.jwt")),
            stateDirectory: disks[2]("state"))
        let began = ContinuousClock.now
        let answer = try sandbox.command(words.map { $0.hasPrefix("/") ? disks[0](String($0.dropFirst())) : $0 })
        #expect(answer.status == status, "\(answer)")
        #expect(ContinuousClock.now - began < .seconds(10), "\(answer)")
        #expect((answer.output + answer.complaints).contains(disks[0].path), "\(answer)")
    }

    @Test func aSingleRunGivesUpOnAConfigurationThatDoesNotAnswer() throws {
        let sandbox = try Sandbox()
        let disk = try SilentDisk(sandbox)
        defer { disk.end() }
        let path = disk("clientsecretd.yaml")
        let once = try sandbox.command("run", "--once", "--config", path)
        #expect(once.status == 1, "\(once)")
        #expect(
            (once.output + once.complaints).contains("\(path): not responding: it did not answer within 30 s"),
            "\(once)")
    }

    private func renewOther(_ sandbox: Sandbox) throws {
        let before = try sandbox.published("other")
        try sandbox.succeed("renew", "other")
        #expect(try sandbox.published("other") != before)
    }

    /// Threads of the daemon in uninterruptible sleep.
    private func stuckThreads(_ sandbox: Sandbox) throws -> Int {
        let tasks = "/proc/\(try #require(sandbox.processID))/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).count { thread in
            (try? sandbox.text("\(tasks)/\(thread)/stat"))?.contains(") D ") == true
        }
    }
}
