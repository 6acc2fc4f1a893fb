import Foundation
import TestSupport
import Testing

/// What happens to file systems under a daemon that runs on.
@Suite(.waits, .needs(.root, .venv, .tools)) struct DiskFaultTests {
    @Test func aFullDiskKeepsTheOldSecretUntilThereIsRoom() throws {
        let sandbox = try Sandbox()
        let disk = try FaultDisk(inMemory: sandbox, kilobytes: 64)
        defer { disk.end() }
        try sandbox.configure(sandbox.client("web", at: disk("web.jwt")) + sandbox.client("other"))
        // Full from the start, so that there is not even a first secret.
        try disk.fill()
        try sandbox.start()
        #expect(!FileManager.default.fileExists(atPath: disk("web.jwt")))
        try expectFailure(sandbox, "the disk is full (no space left)")
        #expect(try sandbox.status()["state"] as? String == "critical")
        try sandbox.claims(of: sandbox.published("other"))
        try disk.unfill()
        try sandbox.recovers("room was made")

        try disk.fill()
        let old = try sandbox.text(disk("web.jwt"))
        #expect(try sandbox.command("renew", "web").status == 1)
        try expectFailure(sandbox, "the disk is full (no space left)")
        #expect(try sandbox.text(disk("web.jwt")) == old)
        #expect(try sandbox.client(named: "other")["state"] as? String == "ok")
        try disk.unfill()
        try sandbox.recovers("room was made again")
        #expect(try sandbox.text(disk("web.jwt")) != old)
        try sandbox.expectNoLeftovers()
        #expect(sandbox.stop() == 0)
    }

    /// That a directory cannot be synced is known only after the new file has the name: the name goes back.
    @Test func aSecretIsNotPublishedBeforeItsDirectoryIsSynced() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let output = sandbox.directory("out/web.jwt")
        let old = try sandbox.text(output)
        let strace = try AttachedStrace(
            to: try #require(sandbox.processID), "inject=fsync:error=EIO", at: sandbox.directory("out"), in: sandbox)
        defer { strace.detach() }
        #expect(try sandbox.command("renew", "web").status == 1)
        try sandbox.eventually("the failure in status") {
            try sandbox.outputs(of: "web").contains { $0.state == "failed" && $0.error.contains("input/output error") }
        }
        #expect(try sandbox.text(output) == old)
        try FileManager.default.removeItem(atPath: output)
        #expect(try sandbox.command("renew", "web").status == 1)
        #expect(!FileManager.default.fileExists(atPath: output))
        strace.detach()
        try sandbox.recovers("the directory could be synced")
        #expect(try sandbox.text(output) != old)
        try sandbox.expectNoLeftovers()
    }

    @Test func aDirectoryThatSomethingIsMountedOnIsServedAgain() throws {
        let sandbox = try Sandbox()
        let (out, file) = (sandbox.directory("out"), sandbox.directory("out/web.jwt"))
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let token = try sandbox.text(file)
        try runToSuccess(["mount", "-t", "tmpfs", "-o", "mode=0700", "tmpfs", out])
        var isMounted = true
        func unmount() throws {
            isMounted = false
            try runToSuccess(["umount", "--lazy", out])
        }
        defer { if isMounted { try? unmount() } }
        try sandbox.eventually("the secret on what was mounted", within: 20) { (try? sandbox.text(file)) == token }
        // What lay below is changed while nobody sees it.
        try unmount()
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: file))
        try sandbox.eventually("the secret below", within: 20) { try sandbox.text(file) == token }
        #expect(sandbox.stop() == 0)
    }

    @Test func aPowerCutLeavesTheOldOrTheNewSecretAndAStateThatServes() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator()
        let seed = random.seed
        let disk = try FaultDisk(ext4: sandbox)
        defer { disk.end() }
        for name in ["state", "out"] { try sandbox.makeDirectory("disk/" + name) }
        try sandbox.configure(sandbox.client("web", at: disk("out/web.jwt")), stateDirectory: disk("state"))
        var tokens: [String] = []
        for round in 0..<12 {
            try sandbox.start()
            let before = try sandbox.text(disk("out/web.jwt"))
            if round % 3 == 0 {
                // What a command has called done is done.
                try sandbox.succeed("renew")
                let promised = try sandbox.text(disk("out/web.jwt"))
                #expect(promised != before)
                try disk.cutPower()
                sandbox.stop(SIGKILL)
                try disk.restart()
                #expect(try sandbox.text(disk("out/web.jwt")) == promised, "round \(round)")
            } else {
                // One after another, for as long as the daemon does them.
                let script = "while \"$1\" renew --socket \"$2\" >/dev/null 2>&1; do :; done"
                let renewals = try Background(
                    ["sh", "-c", script, "sh", sandbox.binary, sandbox.socket], waiting: false)
                // The second begins when the first is done, and so is on the disk.
                for _ in 0..<2 {
                    let last = try sandbox.text(disk("out/web.jwt"))
                    try sandbox.eventually("a renewal") { try sandbox.text(disk("out/web.jwt")) != last }
                }
                usleep(UInt32(random.next() % 120_000))
                try disk.cutPower()
                sandbox.stop(SIGKILL)
                withExtendedLifetime(renewals) {}
                try disk.restart()
            }
            let found = try sandbox.text(disk("out/web.jwt"))
            tokens.append(found)
            let clean = try sandbox.command("run", "--once")
            let isClean = clean.status == 0 && !clean.complaints.contains("state directory")
            #expect(isClean, "\(clean.complaints), round \(round), seed \(seed)")
            tokens.append(try sandbox.text(disk("out/web.jwt")))
            try sandbox.expectNoLeftovers("round \(round), seed \(seed)")
            // The state directory knows the secret by itself.
            try FileManager.default.removeItem(atPath: disk("out/web.jwt"))
            try sandbox.succeed("run", "--once")
            #expect(try sandbox.text(disk("out/web.jwt")) == tokens.last, "round \(round), seed \(seed)")
        }
        #expect(Set(tokens).count >= 8, "seed \(seed)")
        #expect(try sandbox.signers(of: tokens, among: [sandbox.key]).count == tokens.count, "seed \(seed)")
    }

    /// The client's one output is named as what failed, and nothing else of it.
    private func expectFailure(_ sandbox: Sandbox, _ words: String) throws {
        try sandbox.eventually("'\(words)' in status") {
            try sandbox.outputs(of: "web").contains { $0.state == "failed" && $0.error.contains(words) }
        }
    }
}
