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
        #expect(try fleet.source(follower)["kind"] == "store")
        #expect(try fleet.source(follower)["state"] == "current")
        #expect(try follower.command("renew", "web").status == 0)

        // What a watch says is read at once and not a minute later.
        let began = ContinuousClock.now
        try fleet.renew(signer)
        try fleet.awaitSecret(of: signer, on: follower)
        #expect(ContinuousClock.now - began < .seconds(40))

        let newest = try fleet.published(follower)
        // The signer is gone for good.
        signer.stop(SIGKILL)
        follower.stop()
        try follower.start()
        #expect(try fleet.published(follower) == newest)
        #expect(try follower.command("renew", "web").status == 0)
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
        let dates = try run(["openssl", "x509", "-in", fleet.cluster.directory("ending.pem"), "-noout", "-enddate"])
        let date = try run(["date", "-u", "-d", String(dates.output.dropFirst("notAfter=".count)), "+%s"])
        let metrics = try follower.get("/metrics").body
        #expect(
            metrics.contains("\nclientsecretd_store_certificate_expiry_timestamp_seconds \(date.output)"), "\(metrics)")

        try fleet.configure(signer: signer)
        try fleet.configure(follower: follower, of: signer)
        for machine in [signer, follower] {
            #expect(try machine.command("reload").status == 0)
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
        try follower.directory.write(
            """
            \(signer.command("public-key").output)
            state_dir: \(follower.state)
            \(Self.store)
            clients:
            \(follower.client("web", at: follower.directory("out/web.jwt")))
            """, to: "clientsecretd.yaml")
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
        #expect(try signer.judge(signer.published())["claims"] != nil)
        #expect(try signer.command("health").status == 1)
    }
}
