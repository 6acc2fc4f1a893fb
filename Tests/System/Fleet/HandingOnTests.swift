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

    @Test func whatASignerMintsFollowersPublishWhateverBecomesOfTheSigner() throws {
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

    /// Another machine that is given the signer's key.
    private func secondSigner(lifetime: String = "90d", more: String = "") throws -> Sandbox {
        let second = try Sandbox()
        try FileManager.default.removeItem(atPath: second.key)
        try FileManager.default.copyItem(atPath: signer.key, toPath: second.key)
        try second.permit(second.key, 0o600)
        try fleet.configure(signer: second, machine: "second", lifetime: lifetime, more: more)
        return second
    }

    /// Nothing says that the first one will not come back.
    @Test func aSecondSignerMintsWhenItIsDueOnceTheFirstIsGoneForGood() throws {
        let early = "    renew_before: 60s\n"
        try fleet.configure(signer: signer, lifetime: "120s", more: early)
        try fleet.configure(follower: follower, of: signer, more: early)
        let second = try secondSigner(lifetime: "120s", more: early)
        let services = try [signer, second, follower].map { try fleet.serve($0) }
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        try second.start()
        try follower.start()
        for machine in [second, follower] { try fleet.awaitSecret(of: signer, on: machine) }
        signer.stop(SIGKILL)
        let last = try fleet.published(signer)
        try FileManager.default.removeItem(atPath: signer.state)

        let health = try follower.command("health")
        #expect(health.status == 0)
        #expect(health.output.contains(#/the first secret to expire is web.s, .*'web'=\d+s/#), "\(health.output)")
        for machine in [second, follower] {
            try machine.eventually("a secret that the second signer has minted", within: 120) {
                #expect(try machine.status()["state"] as? String != "critical")
                return try fleet.published(machine) != last
            }
        }
        try fleet.awaitSecret(of: second, on: follower)
        #expect(try second.log().contains("minted"))
        #expect(try !follower.log().contains("minted"))
        #expect(try fleet.held() == 1)
        _ = services
    }

    @Test func aSecondSignerMintsNothingThatIsThereAlready() throws {
        let second = try secondSigner()
        let services = [try fleet.serve(signer), try fleet.serve(second)]
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        try second.start()
        try fleet.awaitSecret(of: signer, on: second)
        #expect(try !second.log().contains("minted"))
        try fleet.renew(signer)
        try fleet.awaitSecret(of: signer, on: second)
        #expect(try !second.log().contains("minted"))
        #expect(try fleet.held() == 1)
        _ = services
    }

    /// What the signer knows of the machines that hold its one client's secret.
    private func counts(_ arguments: String...) throws -> [String: Any] {
        let shown = try run(
            [signer.binary, "status", "--fleet", "--json"] + arguments, environment: signer.environment)
        try #require(shown.status == 0, "\(shown.complaints)")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
        return try #require((json["clients"] as? [[String: Any]])?.first)
    }

    /// Each machine and its state, the worst first.
    private func machines(_ arguments: String...) throws -> [String] {
        let shown = try arguments.isEmpty ? counts() : counts("--all")
        return try #require(shown["machines"] as? [[String: Any]]).map { "\($0["machine"] ?? "") \($0["state"] ?? "")" }
    }

    @Test func theSignerShowsWhichMachineIsBehind() throws {
        let second = try fleet.follower(of: signer, machine: "app18")
        let services = try [signer, follower, second].map { try fleet.serve($0) }
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        try follower.start()
        try second.start()
        // Each reports within a minute.
        try signer.eventually("the reports") { try counts()["current"] as? Int == 3 }
        #expect(try counts()["delivered"] as? Int == 3)
        #expect(try machines() == [])
        #expect(try machines("--all").sorted() == ["app17 current", "app18 current", "signer current"])

        second.stop()
        try fleet.renew(signer)
        try fleet.awaitSecret(of: signer, on: follower)
        try signer.eventually("the report after the renewal") { try machines() == ["app18 behind"] }
        let shown = try signer.command("status", "--fleet").output
        #expect(shown.hasPrefix("web: 2 of 3 hold sha256:"), "\(shown)")
        #expect(shown.contains("; behind: app18\n"), "\(shown)")
        let metrics = try run([
            "curl", "-s", "--unix-socket", signer.socket, "http://localhost/metrics",
        ]).output
        #expect(metrics.contains(#"clientsecretd_fleet_hosts{client="web",state="behind"} 1"#), "\(metrics)")

        // Whoever may write there may write anything.
        try fleet.cluster.order("ctl put /clientsecretd/v1/host/app19 '{\"v\":1}'")
        try fleet.cluster.order("ctl put /clientsecretd/v1/host/app20 junk")
        #expect(try machines() == ["app18 behind"])

        let refused = try follower.command("status", "--fleet")
        #expect(refused.status == 1)
        #expect(refused.complaints.contains("puts no secrets into a store"), "\(refused.complaints)")
        _ = services
    }

    private func whatHelps(on machine: Sandbox) -> String {
        remedy(listening: "listen \(machine.directory("store.sock")) store")
    }

    @Test func withoutTheServiceWhatHelpsIsSaid() throws {
        let check = try follower.command("check")
        #expect(
            check.complaints.contains(whatHelps(on: follower)),
            "\(check.output)\(check.complaints)")
        try signer.start()
        let shown = try signer.command("status").output
        #expect(shown.contains(whatHelps(on: signer)), "\(shown)")
        #expect(try signer.judge(fleet.published(signer))["claims"] != nil)
        #expect(try signer.command("health").status == 1)
    }

    @Test func checkSaysWhereSecretsWouldGoAndComeFrom() throws {
        let place = fleet.cluster.endpoints.joined(separator: ", ")
        #expect(
            try signer.command("check").output.contains(
                "  would put it into the store, if it has another one: \(place)\n"))
        #expect(
            try follower.command("check").output.contains("  would receive newer ones from the store: \(place)\n"))
    }

    /// A certificate of ten days is replaced in time.
    @Test func aCertificateThatIsAboutToExpireIsSaidUntilItIsReplaced() throws {
        try fleet.configure(signer: signer, certificate: "ending")
        try fleet.configure(follower: follower, of: signer, certificate: "ending")
        let services = [try fleet.serve(signer), try fleet.serve(follower)]
        for machine in [signer, follower] {
            try machine.start()
            try machine.eventually("the warning") {
                (try fleet.client(machine)["failure"] as? [String: Any])?["code"] as? String
                    == "store_certificate_expiring"
            }
            #expect(try machine.status()["state"] as? String == "degraded")
        }
        // It is no reason not to serve.
        try fleet.awaitSecret(of: signer, on: follower)
        let dates = try run(["openssl", "x509", "-in", fleet.cluster.directory("ending.pem"), "-noout", "-enddate"])
        let date = try run(["date", "-u", "-d", String(dates.output.dropFirst("notAfter=".count)), "+%s"])
        let metrics = try run([
            "curl", "--silent", "--unix-socket", follower.socket, "http://localhost/metrics",
        ]).output
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
