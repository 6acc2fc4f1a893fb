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
        return try run(["curl", "--silent", "--unix-socket", sandbox.socket, "http://localhost/metrics"]).output
    }

    @Test func promtoolFindsNothingToSayAboutTheMetrics() throws {
        let checked = try run([Self.promtool, "check", "metrics"], input: Data(try metrics().utf8))
        #expect(checked.status == 0)
        #expect(checked.output + checked.complaints == "")
    }

    @Test func theRulesFireWhenTheyShouldAndOnlyThen() throws {
        let checked = try run([
            Self.promtool, "check", "rules", "--lint-fatal", rules + "clientsecretd.rules.yaml",
        ])
        #expect(checked.status == 0, "\(checked.output)\(checked.complaints)")
        let tested = try run([Self.promtool, "test", "rules", "clientsecretd.tests.yaml"], directory: rules)
        #expect(tested.status == 0, "\(tested.output)\(tested.complaints)")
    }

    /// A query for a metric that does not exist shows an empty panel, or never fires.
    @Test func whatIsAskedForExists() throws {
        let present = Set(
            try metrics().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
                .map { String($0.split(separator: " ")[2]) })
        let dashboard = try Data(contentsOf: URL(fileURLWithPath: repository + "/etc/grafana/clientsecretd.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: dashboard) as? [String: Any])
        let panels = try #require(document["panels"] as? [[String: Any]])
        let targets = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        let queries = targets.compactMap { $0["expr"] as? String }
        #expect(queries.count == targets.count && queries.count > 10)
        let alerts = try String(contentsOfFile: rules + "clientsecretd.rules.yaml", encoding: .utf8)
        let asked = Set((queries + [alerts]).flatMap { $0.matches(of: /\bclientsecretd_\w+/).map { String($0.0) } })
        #expect(asked.count >= 15)
        // These are there once machines have reported, once a client receives, and once a secret is rolled out.
        #expect(
            asked.subtracting(present) == [
                "clientsecretd_fleet_hosts", "clientsecretd_received_total", "clientsecretd_rollout_admitted_ratio",
            ])
        // And Prometheus takes them for queries, once the dashboard's variables are filled in.
        let directory = try TemporaryDirectory()
        let records = queries.enumerated().map { index, query in
            "- record: panel:\(index)\n      expr: \"\(query.replacing("$instance", with: ".+").replacing("\"", with: "\\\""))\"\n"
        }
        try directory.write(
            "groups:\n  - name: panels\n    rules:\n    \(records.joined(separator: "    "))", to: "panels.yaml")
        let checked = try run([Self.promtool, "check", "rules", directory("panels.yaml")])
        #expect(checked.status == 0, "\(checked.output)\(checked.complaints)")
    }
}
