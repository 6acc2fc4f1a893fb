import Foundation
import TestSupport
import Testing

/// Real daemons, the real program that asks the store, and three real members of etcd.
@Suite(.waits, .needs(.venv, .servers)) struct HandingOnTests {
    private let fleet: Fleet
    private let signer: Sandbox
    private let follower: Sandbox

    init() throws {
        fleet = try Fleet()
        signer = try fleet.signer()
        follower = try fleet.follower(of: signer)
    }

    @Test func followersPublishTheSignersSecretsWhateverBecomesOfIt() throws {
        let services = [try fleet.serve(signer), try fleet.serve(follower)]
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        try follower.start()
        try fleet.awaitSecret(of: signer, on: follower)
        try follower.eventually("health") { try follower.status()["state"] as? String == "ok" }
        #expect(try follower.source()["kind"] == "store")
        #expect(try follower.source()["state"] == "current")
        try follower.succeed("renew", "web")

        // What a watch says is read at once and not a minute later.
        let began = ContinuousClock.now
        try signer.renewLater()
        try fleet.awaitSecret(of: signer, on: follower)
        #expect(ContinuousClock.now - began < .seconds(40))

        let newest = try follower.published()
        // The signer is gone for good.
        signer.stop(SIGKILL)
        follower.stop()
        try follower.start()
        #expect(try follower.published() == newest)
        try follower.succeed("renew", "web")
        #expect(try !follower.log().contains("minted"))
        _ = services
    }

    /// A certificate of ten days is replaced in time.
    @Test func aCertificateThatIsAboutToExpireIsReportedUntilItIsReplaced() throws {
        try fleet.configure(signer: signer, certificate: "ending")
        try fleet.configure(follower: follower, of: signer, certificate: "ending")
        let services = [try fleet.serve(signer), try fleet.serve(follower)]
        for machine in [signer, follower] {
            try machine.start()
            try machine.eventually("the warning") {
                (try machine.client(named: "web")["failure"] as? [String: Any])?["code"] as? String
                    == "store_certificate_expiring"
            }
            #expect(try machine.status()["state"] as? String == "degraded")
        }
        // It is no reason not to serve.
        try fleet.awaitSecret(of: signer, on: follower)
        let date = try runToSuccess([
            "sh", "-c", "date -u -d \"$(openssl x509 -in \"$0\" -noout -enddate | cut -d= -f2)\" +%s",
            fleet.cluster.directory("ending.pem"),
        ])
        let metrics = try follower.get("/metrics").body
        #expect(metrics.contains("\nclientsecretd_store_certificate_expiry_timestamp_seconds \(date)"), "\(metrics)")

        try fleet.configure(signer: signer)
        try fleet.configure(follower: follower, of: signer)
        for machine in [signer, follower] {
            try machine.succeed("reload")
            try machine.eventually("health") { try machine.status()["state"] as? String == "ok" }
        }
        _ = services
    }
}

/// A signer and a follower beside which nothing listens that could ask the store.
@Suite(.waits) struct StoreServiceMissingTests {
    private static let store = "store: {endpoints: [\"https://127.0.0.1:1\"]}"

    private func whatHelps(on machine: Sandbox) -> String {
        remedy(listening: "listen \(machine.directory("store.sock")) store")
    }

    @Test func faultsAreNamedWithARemedy() throws {
        let (signer, follower) = (try Sandbox(), try Sandbox())
        try signer.configure(signer.client("web"), others: Self.store)
        let client = follower.client("web", at: follower.directory("out/web.jwt"))
        try follower.configure(following: signer, client, others: Self.store)
        for (machine, words) in [
            (signer, "would put it into the store, if it has another one"),
            (follower, "would receive newer ones from the store"),
        ] {
            let check = try machine.command("check")
            #expect(check.output.contains("  \(words): https://127.0.0.1:1\n"), "\(check)")
            #expect(check.complaints.contains(whatHelps(on: machine)), "\(check)")
        }
        try signer.start()
        let shown = try signer.command("status").output
        #expect(shown.contains(whatHelps(on: signer)), "\(shown)")
        try signer.claims(of: signer.published())
        #expect(try signer.command("health").status == 1)
    }
}
