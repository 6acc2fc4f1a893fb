import AppleClientSecret
import Model
import StatusAPI
import Testing

/// What the machines of the fleet report, as the status socket says it.
struct FleetDocumentTests {
    @Test func asItIsWritten() throws {
        expectSame(
            try Samples.fleet().json,
            #"""
            {"clients":[{"name":"web","fingerprint":"sha256:0123456789abcdef","hosts":11,"current":7,"delivered":6,\#
            "behind":1,"failing":1,"silent":2,"rollout":null,"machines":[{"machine":"app17","state":"failing",\#
            "fingerprint":"sha256:0123456789abcdef","since":"2026-11-18T09:06:40Z","delivered":false,\#
            "failure":"disk_full","last_seen":"2026-11-18T09:06:45Z"},{"machine":"app18","state":"behind",\#
            "fingerprint":null,"since":"2026-11-18T09:06:40Z","delivered":false,"failure":null,\#
            "last_seen":"2026-11-18T09:06:45Z"}]},{"name":"api","fingerprint":null,"hosts":0,"current":0,"delivered":0,\#
            "behind":0,"failing":0,"silent":0,"rollout":null,"machines":[]}]}
            """#)
    }

    @Test func howFarASecretIsRolledOut() throws {
        var view = try Samples.fleet()
        let since = WallTime(secondsSinceEpoch: 1_794_992_800)
        view.clients[0].rollout = RolloutView(share: 0.05, state: .held, since: since)
        #expect(view.json.contains(#""rollout":{"share":5,"state":"held","since":"2026-11-18T09:06:40Z"}"#))
        #expect(try FleetView(json: Array(view.json.utf8)) == view)
        var snapshot = try Samples.snapshot()
        #expect(!Metrics.text(of: snapshot).contains("rollout"))
        snapshot.rollouts = [try Samples.name("web"): RolloutView(share: 0.05, state: .held, since: since)]
        #expect(Metrics.text(of: snapshot).contains("clientsecretd_rollout_admitted_ratio{client=\"web\"} 0.05\n"))
    }

    @Test func theMetric() throws {
        var snapshot = try Samples.snapshot()
        #expect(!Metrics.text(of: snapshot).contains("fleet_hosts"))
        snapshot.fleet = [try Samples.name("web"): try Samples.fleet().clients[0].counts]
        let text = Metrics.text(of: snapshot)
        #expect(text.contains("# TYPE clientsecretd_fleet_hosts gauge\n"))
        #expect(text.contains(#"clientsecretd_fleet_hosts{client="web",state="current"} 7"#))
        #expect(text.contains(#"clientsecretd_fleet_hosts{client="web",state="silent"} 2"#))
    }
}
