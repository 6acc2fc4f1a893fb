import AppleClientSecret
import Foundation
import Model
import TestSupport
import Testing

@testable import StatusAPI

struct MetricsTests {
    /// The samples whose lines contain this text.
    private func samples(_ snapshot: Snapshot, with text: String) -> [Substring] {
        Metrics.text(of: snapshot).split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains(text) }
    }

    @Test func textIsTheContracts() throws {
        var snapshot = try Samples.snapshot()
        snapshot.configuration.error = "c.yaml:1:1: error: a"
        snapshot.version = "0.1.0\"\\\n"
        let lines = Metrics.text(of: snapshot).split(separator: "\n")
        // The words of each are those of the guide, as the test below has it.
        #expect(
            lines.prefix(2) == [
                "# HELP clientsecretd_secret_issued_timestamp_seconds When the current secret was issued (iat).",
                "# TYPE clientsecretd_secret_issued_timestamp_seconds gauge",
            ])
        expectSame(
            lines.filter { !$0.hasPrefix("#") }.joined(separator: "\n"),
            """
            clientsecretd_secret_issued_timestamp_seconds{client="api"} 0
            clientsecretd_secret_issued_timestamp_seconds{client="web"} 1794992800
            clientsecretd_secret_expiry_timestamp_seconds{client="api"} 0
            clientsecretd_secret_expiry_timestamp_seconds{client="web"} 1802768860
            clientsecretd_secret_delivered_expiry_timestamp_seconds{client="api"} 0
            clientsecretd_secret_delivered_expiry_timestamp_seconds{client="web"} 1802768860
            clientsecretd_secret_renewal_timestamp_seconds{client="api"} 0
            clientsecretd_secret_renewal_timestamp_seconds{client="web"} 1800176800
            clientsecretd_secret_published_timestamp_seconds{client="api"} 0
            clientsecretd_secret_published_timestamp_seconds{client="web"} 1794992801
            clientsecretd_secret_last_success_timestamp_seconds{client="api"} 0
            clientsecretd_secret_last_success_timestamp_seconds{client="web"} 1794992802
            clientsecretd_secret_ok{client="api"} 0
            clientsecretd_secret_ok{client="web"} 1
            clientsecretd_verification{client="api",verdict="pending"} 0
            clientsecretd_verification{client="api",verdict="accepted"} 0
            clientsecretd_verification{client="api",verdict="refused"} 0
            clientsecretd_verification{client="api",verdict="unknown"} 0
            clientsecretd_verification{client="web",verdict="pending"} 0
            clientsecretd_verification{client="web",verdict="accepted"} 0
            clientsecretd_verification{client="web",verdict="refused"} 0
            clientsecretd_verification{client="web",verdict="unknown"} 0
            clientsecretd_output_ok{client="api",path="/srv/app/.env"} 0
            clientsecretd_output_ok{client="web",path="/run/clientsecretd/out/web.jwt"} 1
            clientsecretd_mints_total{client="api",result="success"} 0
            clientsecretd_mints_total{client="api",result="failure"} 0
            clientsecretd_mints_total{client="web",result="success"} 3
            clientsecretd_mints_total{client="web",result="failure"} 1
            clientsecretd_publishes_total{client="api",result="success"} 0
            clientsecretd_publishes_total{client="api",result="failure"} 0
            clientsecretd_publishes_total{client="web",result="success"} 8
            clientsecretd_publishes_total{client="web",result="failure"} 2
            clientsecretd_deliveries_total{client="api",result="success"} 0
            clientsecretd_deliveries_total{client="api",result="failure"} 0
            clientsecretd_deliveries_total{client="web",result="success"} 3
            clientsecretd_deliveries_total{client="web",result="failure"} 0
            clientsecretd_consecutive_failures{client="api"} 2
            clientsecretd_consecutive_failures{client="web"} 0
            clientsecretd_deliveries_pending{client="api"} 1
            clientsecretd_deliveries_pending{client="web"} 0
            clientsecretd_drift_repairs_total{client="api",path="/srv/app/.env"} 0
            clientsecretd_drift_repairs_total{client="web",path="/run/clientsecretd/out/web.jwt"} 5
            clientsecretd_state{state="ok"} 0
            clientsecretd_state{state="degraded"} 1
            clientsecretd_state{state="critical"} 0
            clientsecretd_config_last_reload_successful 0
            clientsecretd_clock_trusted 1
            clientsecretd_client_info{client="api",kind="sign_in"} 1
            clientsecretd_client_info{client="web",kind="sign_in"} 1
            clientsecretd_build_info{version="0.1.0\\"\\\\\\n"} 1
            """)
    }

    @Test func aStoreHasItsMetricsAndWithoutOneThereAreNone() throws {
        var snapshot = try Samples.snapshot()
        var store = StoreView()
        store.isReachable = true
        store.lastContactAt = WallTime(secondsSinceEpoch: 1_794_992_900)
        store.certificateExpiresAt = WallTime(secondsSinceEpoch: 1_795_992_900)
        store.reads = Tally(successes: 7, failures: 2)
        store.puts = Tally(successes: 3, failures: 1)
        store.conflicts = 4
        store.rejected = 5
        snapshot.store = store
        #expect(
            samples(snapshot, with: "clientsecretd_store") == [
                "clientsecretd_store_reachable 1", "clientsecretd_store_last_contact_timestamp_seconds 1794992900",
                "clientsecretd_store_certificate_expiry_timestamp_seconds 1795992900",
                "clientsecretd_store_requests_total{operation=\"read\",result=\"success\"} 7",
                "clientsecretd_store_requests_total{operation=\"read\",result=\"failure\"} 2",
                "clientsecretd_store_requests_total{operation=\"put\",result=\"success\"} 3",
                "clientsecretd_store_requests_total{operation=\"put\",result=\"failure\"} 1",
                "clientsecretd_store_conflicts_total 4", "clientsecretd_store_rejected_total 5",
            ])
        snapshot.store = nil
        #expect(!Metrics.text(of: snapshot).contains("clientsecretd_store"))
    }

    /// The guide has a row for each, in their order, with the same words.
    @Test func theGuideListsEveryMetric() throws {
        func row<Subject>(_ metric: Metric<Subject>) -> String {
            let labels = metric.labels.isEmpty ? "" : "{\(metric.labels.joined(separator: ", "))}"
            return "| `\(metric.name)\(labels)` | \(metric.kind.rawValue) | \(metric.help) |"
        }
        let rows = (Metrics.times + Metrics.states).map(row) + ProcessMetrics.rows.map(row)
        let guide = try String(contentsOfFile: repository + "/docs/prometheus.md", encoding: .utf8)
        #expect(
            guide.split(separator: "\n").filter { $0.contains(#/^\| `(clientsecretd|process)_/#) }.map(String.init)
                == rows)
    }

    @Test func aPlaceBehindAnAPIHasItsNameForAPath() throws {
        var snapshot = try Samples.snapshot()
        var view = try Samples.web()
        let target = try #require(TargetName("production"))
        view.outputs.append(
            OutputView(target: target, verified: true, state: .failed, writtenAt: nil, error: "no", repairs: 3))
        snapshot.clients = [view]
        #expect(
            samples(snapshot, with: "path=\"push:") == [
                "clientsecretd_output_ok{client=\"web\",path=\"push:production\"} 0",
                "clientsecretd_drift_repairs_total{client=\"web\",path=\"push:production\"} 3",
            ])
    }

    @Test func receivedSecretsAreCountedForReceivingClients() throws {
        var snapshot = try Samples.snapshot()
        #expect(!Metrics.text(of: snapshot).contains("received_total"), "none of these receives its secrets")
        snapshot.clients[1].source = SourceView(place: "/in/web.jwt", state: .current, since: Samples.start)
        snapshot.clients[1].counts.received = 4
        #expect(samples(snapshot, with: "received_total") == ["clientsecretd_received_total{client=\"web\"} 4"])
    }

    @Test func twoVariablesOfOneFileAreOneSeries() throws {
        var snapshot = try Samples.snapshot()
        var view = try Samples.api()
        view.outputs.append(view.outputs[0])
        view.outputs[1].state = .ok
        view.outputs[1].repairs = 2
        snapshot.clients = [view]
        #expect(
            samples(snapshot, with: "path=") == [
                "clientsecretd_output_ok{client=\"api\",path=\"/srv/app/.env\"} 0",
                "clientsecretd_drift_repairs_total{client=\"api\",path=\"/srv/app/.env\"} 2",
            ])
    }
}
