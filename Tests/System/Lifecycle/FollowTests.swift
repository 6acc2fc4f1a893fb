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
        try follower.configure(
            following: signer,
            follower.client("web", at: follower.directory("out/web.jwt")) + """
                    key: apple
                    from: {path: \(follower.directory("in/web.jwt"))\(form)}
                    deliver_over: 1d
                    on_change:
                      - exec: [/bin/sh, -c, "echo ran >> \(follower.directory("ran"))"]
                """)
    }

    /// Puts something into the source as rsync does: beside it, then renamed.
    private func offer(_ text: String) throws {
        try follower.directory.write(text, to: "in/.web.jwt.new")
        try follower.move("in/.web.jwt.new", to: "in/web.jwt")
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
            try runToSuccess(["/usr/bin/python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('\(path)')"])
        }
        let check = try follower.command("check")
        #expect(check.status == 1)
        #expect(check.complaints.contains("copy it there as a regular file"), "\(check.complaints)")
        #expect(!check.complaints.contains("let the daemon's user read it"))
    }

    @Test func theSignersSecretIsPublishedAndDelivered() throws {
        try signer.start()
        try configure()
        let checked = try follower.command("check")
        #expect(checked.output.contains("web: would wait until its source holds a secret that can be received"))
        #expect(checked.status == 1)
        try offer(signer.published())
        try follower.succeed("check")
        try follower.start()
        #expect(try follower.published() == signer.published())
        try follower.eventually("delivery") { try follower.status()["state"] as? String == "ok" }
        #expect(try follower.source()["state"] == "current")
        #expect(try follower.source()["place"] == follower.directory("in/web.jwt"))

        try signer.renewLater()
        try offer(signer.published())
        try follower.eventually("the new secret") { try follower.published() == signer.published() }

        // Written in place, and asked for at once.
        try signer.renewLater()
        try follower.directory.write(signer.published() + "\n", to: "in/web.jwt")
        #expect(try follower.succeed("renew", "web").hasPrefix("web: delivered (sha256:"))
        #expect(try follower.published() == signer.published())
        // The second one waited for its turn.
        #expect(try follower.directory.read("ran").split(separator: "\n").count == 2)
        #expect(try !follower.log().contains("minted"))

        // Gone for good: the follower serves on, also after a restart.
        signer.stop()
        try FileManager.default.removeItem(atPath: follower.directory("in"))
        follower.stop()
        try follower.start()
        #expect(try follower.published() == signer.published())
        #expect(try follower.status()["state"] as? String == "ok")
        #expect(try follower.source()["state"] == "missing")
    }

    /// What `inspect` finds in such a file, and with its words.
    @Test func aSourceInAnotherFormatIsReadAsInspectReadsIt() throws {
        try signer.start()
        let first = try signer.published()
        for (form, text, state, words) in [
            (
                ", variable: APPLE_SECRET", "PORT=1\nAPPLE_CLIENT_SECRET=\(first)\n", "missing",
                "APPLE_SECRET is not set in it"
            ),
            (", format: json", #"{"expires": 1, "client_secret": "\#(first)"}"#, "current", ""),
        ] {
            try configure(form)
            try offer(text)
            try follower.start()
            let renewed = try follower.command("renew", "web")
            #expect(try follower.source()["state"] == state, "\(text)")
            #expect(words == "" ? renewed.status == 0 : renewed.complaints.contains(words), "\(renewed.complaints)")
            follower.stop()
        }
    }
}
