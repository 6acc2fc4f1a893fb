import Foundation
import Glibc
import TestSupport
import Testing

/// Links, directories that come and go, lost notices and a changed configuration, seen by a running daemon. Where nothing
/// gave notice it would look once a minute; what is waited for here comes within half of that.
@Suite(.waits) struct WatchedPathsTests {
    // MARK: What lies behind links

    @Test func aLinkOnTheWayToAKeyIsWatchedHoweverOftenItIsSwapped() throws {
        let sandbox = try Sandbox()
        for name in ["one", "two", "three"] {
            try sandbox.makeDirectory(name)
            try sandbox.makeKey(at: sandbox.directory("\(name)/AuthKey_ABC123DEFG.p8"))
        }
        try sandbox.remove("keys")
        try sandbox.directory.link("keys", to: "one")
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        for name in ["two", "three"] {
            let old = try sandbox.published()
            try sandbox.awaitRest()
            try sandbox.directory.link("next", to: name)
            try sandbox.move("next", to: "keys")
            try sandbox.soon("a secret by the key in \(name)") { try sandbox.published() != old }
            try sandbox.claims(of: sandbox.published())
        }
        // The directory that the link leads to now is the one that is watched.
        let old = try sandbox.published()
        try sandbox.awaitRest()
        try sandbox.makeKey(at: sandbox.directory("three/next"))
        try sandbox.move("three/next", to: "three/AuthKey_ABC123DEFG.p8")
        try sandbox.soon("a secret by the last key") { try sandbox.published() != old }
    }

    @Test func anOutputIsWatchedWhereItReallyLies() throws {
        let sandbox = try Sandbox()
        try sandbox.makeDirectory("real")
        try sandbox.directory.write("", to: "real/web.jwt")
        try sandbox.directory.link("out/web.jwt", to: "../real/web.jwt")
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let token = try sandbox.directory.read("real/web.jwt")
        #expect(token.hasPrefix("eyJ"))
        try sandbox.awaitRest()
        try sandbox.directory.write("rubbish", to: "real/web.jwt")
        try sandbox.soon("the repair") { try sandbox.directory.read("real/web.jwt") == token }
    }

    // MARK: Directories and notices

    @Test(.needs(.root)) func aDirectoryThatIsDeletedAndMadeAgainIsWatchedAgain() throws {
        let sandbox = try Sandbox()
        try sandbox.makeDirectory("deep")
        try sandbox.makeDirectory("deep/out")
        let path = sandbox.directory("deep/out/web.jwt")
        try sandbox.configure(sandbox.client("web", at: path))
        try sandbox.start()
        let token = try sandbox.directory.read("deep/out/web.jwt")
        for _ in 0..<2 {
            try sandbox.remove("deep")
            try sandbox.eventually("saying so") { try sandbox.status()["state"] as? String == "critical" }
            try sandbox.makeDirectory("deep")
            try sandbox.soon("a watch on the first of the directories") { try isWatched("deep", by: sandbox) }
            try sandbox.makeDirectory("deep/out")
            try sandbox.soon("the secret in the new directory") {
                (try? sandbox.directory.read("deep/out/web.jwt")) == token
            }
        }
        try sandbox.directory.write("rubbish", to: "deep/out/web.jwt")
        try sandbox.soon("the repair") { try sandbox.directory.read("deep/out/web.jwt") == token }
    }

    /// Whether one of the daemon's inotify descriptors has a watch on the directory (proc(5): its inode, in hexadecimal).
    private func isWatched(_ name: String, by sandbox: Sandbox) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.directory(name))
        let inode = String(try #require(attributes[.systemFileNumber] as? Int), radix: 16)
        let descriptors = "/proc/\(try #require(sandbox.processID))/fdinfo"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).contains { descriptor in
            let watches = try? String(contentsOfFile: "\(descriptors)/\(descriptor)", encoding: .utf8)
            return watches?.contains(" ino:\(inode) ") == true
        }
    }

    @Test func changesWhileNoticesAreLostAreNoticed() throws {
        let sandbox = try Sandbox.running("web")
        let token = try sandbox.published()
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let process = try #require(sandbox.processID)
        try sandbox.awaitRest()
        kill(process, SIGSTOP)
        // Two notices each at least; those of the damage then find no place.
        let made = try run([
            "/usr/bin/python3", "-c",
            """
            import os, sys
            for i in range(int(sys.argv[2])):
                name = f'{sys.argv[1]}/{i % 2}'
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
                os.unlink(name)
            open(sys.argv[1] + '/web.jwt', 'w').write('rubbish')
            """, sandbox.directory("out"), limit.trimmingCharacters(in: .whitespacesAndNewlines),
        ])
        kill(process, SIGCONT)
        try #require(made.status == 0, "\(made.complaints)")
        try sandbox.soon("the repair") { try sandbox.published() == token }
    }

    // MARK: The configuration

    private func reason(_ sandbox: Sandbox) throws -> String? {
        try sandbox.status()["reason"] as? String
    }

    @Test func aConfigurationThatWouldNotStartIsReportedForAsLongAsItIsThere() throws {
        let sandbox = try Sandbox.running("web")
        let good = try sandbox.directory.read("clientsecretd.yaml")

        try sandbox.directory.write(good + "colour: red\n", to: "clientsecretd.yaml")
        try sandbox.soon("the word that it would not start") {
            let reason = try reason(sandbox) ?? ""
            return reason.contains("would not start") && reason.contains("unknown key \"colour\"")
        }
        #expect(try sandbox.status()["state"] as? String == "degraded")
        #expect(try sandbox.command("reload").status == 78)
        #expect(try reason(sandbox)?.contains("would not start") == true)
        try sandbox.directory.write(good, to: "clientsecretd.yaml")
        try sandbox.soon("peace") { try sandbox.status()["state"] as? String == "ok" }

        // The directory of additions did not exist when the daemon started.
        try sandbox.makeDirectory("clientsecretd.d")
        try sandbox.directory.write("clients: {web: {}}\n", to: "clientsecretd.d/more.yaml")
        try sandbox.soon("the word on the addition") { try reason(sandbox)?.contains("more.yaml") == true }
        try sandbox.remove("clientsecretd.d")
        try sandbox.soon("peace again") { try sandbox.status()["state"] as? String == "ok" }

        // One that passes waits for a reload.
        try sandbox.configure(sandbox.client("web") + sandbox.client("native"))
        try sandbox.succeed("reload")
        #expect((try sandbox.status()["clients"] as? [Any])?.count == 2)
    }
}
