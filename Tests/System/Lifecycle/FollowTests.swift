import Foundation
import TestSupport
import Testing

/// A daemon without the private key, which receives what another one has minted.
@Suite(.waits) struct FollowTests {
    private let signer: Sandbox
    private let follower: Sandbox

    init() throws {
        signer = try Sandbox()
        try signer.configure(signer.client("web"))
        follower = try Sandbox()
        try FileManager.default.removeItem(atPath: follower.key)
        try follower.makeDirectory("in", mode: 0o755)
    }

    /// The follower's configuration: what `public-key` prints, and a client.
    ///
    /// - Parameter form: how the source holds the secret, as the end of a YAML mapping.
    private func configure(_ form: String = "") throws {
        let printed = try signer.command("public-key")
        #expect(printed.status == 0, "\(printed.complaints)")
        try follower.directory.write(
            """
            \(printed.output)
            state_dir: \(follower.state)
            clients:
              web:
                client_id: com.example.web
                key: apple
                from: {path: \(follower.directory("in/web.jwt"))\(form)}
                outputs:
                  - path: \(follower.directory("out/web.jwt"))
                deliver_over: 1d
                on_change:
                  - exec: [/bin/sh, -c, "echo ran >> \(follower.directory("ran"))"]
            """, to: "clientsecretd.yaml")
    }

    /// Puts something into the source as rsync does: beside it, then renamed.
    private func offer(_ text: String) throws {
        try follower.directory.write(text, to: "in/.web.jwt.new")
        try move(follower.directory("in/.web.jwt.new"), to: follower.directory("in/web.jwt"))
    }

    /// The advice is made from what is there, and not from the fact that it cannot be read.
    @Test(arguments: ["fifo", "directory", "socket"]) func aSourceThatIsNoFileIsNotAMatterOfRights(_ kind: String)
        throws
    {
        try configure()
        let path = follower.directory("in/web.jwt")
        switch kind {
        case "fifo": try #require(unsafe mkfifo(path, 0o600) == 0)
        case "directory": try #require(unsafe mkdir(path, 0o755) == 0)
        default:
            try #require(
                run(["/usr/bin/python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('\(path)')"]).status
                    == 0)
        }
        let check = try follower.command("check")
        #expect(check.status == 1)
        #expect(check.complaints.contains("copy it there as a regular file"), "\(check.complaints)")
        #expect(!check.complaints.contains("let the daemon's user read it"))
    }

    private func move(_ path: String, to target: String) throws {
        let moved = unsafe rename(path, target)
        try #require(moved == 0)
    }

    private func source() throws -> [String: String] {
        try #require(try follower.client(named: "web")["source"] as? [String: String])
    }

    private func published() throws -> String { try follower.published() }

    /// Has the signer mint a secret that is greater than its last one: one of another second.
    private func renewSigner() throws {
        let last = time(nil)
        while time(nil) == last { usleep(10_000) }
        try #require(try signer.command("renew").status == 0)
    }

    @Test func theSignersSecretIsPublishedAndDelivered() throws {
        try signer.start()
        try configure()
        let checked = try follower.command("check")
        #expect(checked.output.contains("web: would wait until its source holds a secret that can be received"))
        #expect(checked.status == 1)
        try offer(signer.published())
        #expect(try follower.command("check").status == 0)
        try follower.start()
        #expect(try published() == signer.published())
        try follower.eventually("delivery") { try follower.status()["state"] as? String == "ok" }
        #expect(try source()["state"] == "current")
        #expect(try source()["place"] == follower.directory("in/web.jwt"))

        try renewSigner()
        try offer(signer.published())
        try follower.eventually("the new secret") { try published() == signer.published() }

        // Written in place, and asked for at once.
        try renewSigner()
        try follower.directory.write(signer.published() + "\n", to: "in/web.jwt")
        let renewed = try follower.command("renew", "web")
        #expect(renewed.status == 0, "\(renewed.complaints)")
        #expect(renewed.output.hasPrefix("web: delivered (sha256:"))
        #expect(try published() == signer.published())
        // The second one waited for its turn.
        #expect(try follower.directory.read("ran").split(separator: "\n").count == 2)
        #expect(try !follower.log().contains("minted"))

        // Gone for good: the follower serves on, also after a restart.
        signer.stop()
        try FileManager.default.removeItem(atPath: follower.directory("in"))
        follower.stop()
        try follower.start()
        #expect(try published() == signer.published())
        #expect(try follower.status()["state"] as? String == "ok")
        #expect(try source()["state"] == "missing")
    }

    /// What `inspect` finds in such a file, and with its words.
    @Test func aSourceInAnotherFormatIsReadAsInspectReadsIt() throws {
        try signer.start()
        let first = try signer.published()
        let found =
            [
                (
                    ", variable: APPLE_SECRET", "PORT=1\nAPPLE_CLIENT_SECRET=\(first)\n", "missing",
                    "APPLE_SECRET is not set in it"
                ),
                (", format: json", #"{"expires": 1, "client_secret": "\#(first)"}"#, "current", nil),
            ] as [(form: String, text: String, state: String, words: String?)]
        for one in found {
            try configure(one.form)
            try offer(one.text)
            try follower.start()
            let renewed = try follower.command("renew", "web")
            #expect(try source()["state"] == one.state, "\(one.text)")
            #expect(one.words.map(renewed.complaints.contains) ?? (renewed.status == 0), "\(renewed.complaints)")
            follower.stop()
        }
    }
}
