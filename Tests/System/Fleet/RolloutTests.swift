import Foundation
import TestSupport
import Testing

/// Real daemons that deliver a secret one after the other, as the signer admits them through three real members of etcd.
@Suite(.waits, .needs(.venv, .servers)) struct RolloutTests {
    private let fleet: Fleet
    private let signer: Sandbox
    private let followers: [String: Sandbox]

    init() throws {
        let fleet = try Fleet()
        let signer = try Sandbox()
        try fleet.configure(signer: signer, more: "    rollout: {canaries: 1, at_once: 50%, pause: 60s}\n")
        var followers: [String: Sandbox] = [:]
        for name in ["app1", "app2", "app3"] {
            let follower = try fleet.follower(of: signer, machine: name)
            let log = follower.directory("delivered")
            try fleet.configure(
                follower: follower, of: signer, machine: name,
                more: """
                        deliver_over: 0s
                        on_change:
                          - exec: [/bin/sh, -c, 'cat \(follower.directory("out/web.jwt")) >\(log)']
                    """)
            followers[name] = follower
        }
        self.fleet = fleet
        self.signer = signer
        self.followers = followers
    }

    private func rollout() throws -> [String: Any] {
        try object(signer.succeed("rollout", "show", "web", "--json"))
    }

    private func hasDelivered(_ follower: Sandbox) throws -> Bool {
        try (try? follower.directory.read("delivered")) == signer.published()
    }

    private func delivered() throws -> Int { try followers.values.count { try hasDelivered($0) } }

    @Test func aSecretIsRolledOutHeldAndFinished() throws {
        let services = try ([signer] + followers.values).map { try fleet.serve($0) }
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        for follower in followers.values { try follower.start() }
        // Nobody waits who holds none.
        for follower in followers.values { try follower.eventually("delivery") { try hasDelivered(follower) } }
        try signer.eventually("the reports", within: 180) {
            let counts = try fleet.counts(signer)
            return counts["current"] as? Int == 4 && counts["delivered"] as? Int == 4
        }

        try signer.renewLater()
        for follower in followers.values { try fleet.awaitSecret(of: signer, on: follower) }
        try signer.eventually("the canary's delivery") { try delivered() == 1 }
        #expect(try rollout()["state"] as? String == "going")
        let waiting = try #require(try followers.values.first { try !hasDelivered($0) })
        // The file is written before the daemon has noted that it is.
        try waiting.eventually("that it waits") { try waiting.client(named: "web")["delivered"] as? Bool == false }
        #expect(try waiting.client(named: "web")["state"] as? String == "ok")

        let hold = try signer.succeed("rollout", "hold", "web")
        #expect(hold.hasPrefix("web: held at 33 % of the machines"), "\(hold)")
        try signer.eventually("health") { try signer.status()["state"] as? String == "degraded" }
        #expect(
            try signer.command("status").output.contains("clientsecretd rollout show --socket \(signer.socket) web"))
        // A restart delivers nothing that waits.
        waiting.stop()
        try waiting.start()
        sleep(5)
        #expect(try delivered() == 1)
        // Who asks is served.
        try waiting.succeed("renew", "web")
        #expect(try delivered() == 2)

        try signer.succeed("rollout", "resume", "web")
        try signer.eventually("health") { try signer.status()["state"] as? String == "ok" }
        let finish = try signer.command("rollout", "finish", "web")
        #expect(finish.output.hasPrefix("web: all machines may deliver"), "\(finish.output)\(finish.complaints)")
        try signer.eventually("the last delivery") { try delivered() == 3 }
        let again = try signer.command("rollout", "hold", "web")
        #expect(again.status == 64)
        #expect(again.complaints.contains("no rollout of this client is under way"), "\(again.complaints)")
        #expect(try signer.command("rollout", "show", "wbe").status == 64)
        _ = services
    }
}
