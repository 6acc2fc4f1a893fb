import Foundation
import TestSupport
import Testing

/// What is shipped for monitoring, tried with the programs it is for.
@Suite(.waits, .needs(.servers, .tools)) struct AlertRulesTests {
    private static let promtool = unpacked("usr/bin/promtool", of: "prometheus")
    private let rules = repository + "/etc/prometheus/"

    /// A daemon with one of everything that metrics speak of, and what it answers at /metrics.
    private func metrics() throws -> String {
        let sandbox = try Sandbox()
        try sandbox.configure(
            sandbox.client("web", more: "    on_change:\n      - exec: [/bin/true]\n"),
            others: "store: {endpoints: [\"https://127.0.0.1:1\"]}")
        try sandbox.start()
        return try sandbox.get("/metrics").body
    }

    @Test func promtoolFindsNothingToSayAboutTheMetrics() throws {
        let checked = try run([Self.promtool, "check", "metrics"], input: Data(try metrics().utf8))
        #expect(checked.status == 0 && checked.output + checked.complaints == "", "\(checked)")
    }

    @Test func theRulesFireWhenTheyShouldAndOnlyThen() throws {
        try runToSuccess(
            [Self.promtool, "check", "rules", "--lint-fatal", "clientsecretd.rules.yaml"], directory: rules)
        try runToSuccess([Self.promtool, "test", "rules", "clientsecretd.tests.yaml"], directory: rules)
    }

    /// A rule for a metric that does not exist never fires. (Of the dashboard's queries each finds something: `PrometheusTests`.)
    @Test func everyMetricThatIsAskedForExists() throws {
        let present = Set(
            try metrics().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
                .map { String($0.split(separator: " ")[2]) })
        let alerts = try String(contentsOfFile: rules + "clientsecretd.rules.yaml", encoding: .utf8)
        let asked = Set(alerts.matches(of: /\bclientsecretd_\w+/).map { String($0.0) })
        #expect(asked.count >= 15)
        // These are there once machines have reported, once a client receives, and once a secret is rolled out.
        #expect(
            asked.subtracting(present) == [
                "clientsecretd_fleet_hosts", "clientsecretd_received_total", "clientsecretd_rollout_admitted_ratio",
            ])
    }
}
