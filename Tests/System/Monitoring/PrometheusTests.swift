import Foundation
import TestSupport
import Testing

/// A real Prometheus with the rules that are shipped, and faults as they happen.
@Suite(.waits, .needs(.servers)) struct PrometheusTests {
    /// Scrapes and judges once a second by the rules in `etc`, which wait for a second in the place of minutes, and not
    /// for an hour after a renewal, but from 45 s before it on: secrets are renewed once a minute at most.
    private final class Watch {
        private let directory: TemporaryDirectory
        private let server: HTTPProgram

        init(port: UInt16) throws {
            let directory = try TemporaryDirectory()
            let rules = try String(
                contentsOfFile: repository + "/etc/prometheus/clientsecretd.rules.yaml", encoding: .utf8)
            let quick = rules.replacing(try Regex("for: [0-9]+m\n"), with: "for: 1s\n")
                .replacing("time() - 3600", with: "time() + 45")
            #expect(quick.matches(of: try Regex("for: 1s|time\\(\\) \\+ 45")).count >= 7)
            try directory.write(quick, to: "rules.yaml")
            try directory.write(
                """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: [rules.yaml]
                scrape_configs:
                  - job_name: clientsecretd
                    static_configs: [{targets: ["127.0.0.1:\(port)"]}]
                """, to: "prometheus.yaml")
            server = try HTTPProgram(answering: "/-/ready") { port in
                [
                    unpacked("usr/bin/prometheus", of: "prometheus"),
                    "--config.file=\(directory("prometheus.yaml"))",
                    "--storage.tsdb.path=\(directory("data"))", "--web.listen-address=127.0.0.1:\(port)",
                ]
            }
            self.directory = directory
        }

        private func data(_ target: String) throws -> [String: Any] {
            let answer = try #require(try server.get("/api/v1/" + Self.encoded(target)))
            return try #require(object(answer)["data"] as? [String: Any])
        }

        private static func encoded(_ target: String) -> String {
            target.addingPercentEncoding(
                withAllowedCharacters: .urlQueryAllowed.subtracting(["{", "}", "\"", "+", "&", "#"]))
                ?? target
        }

        /// The labels of each alert of this name that fires.
        func firing(_ name: String) throws -> [[String: String]] {
            let alerts = try #require(try data("alerts")["alerts"] as? [[String: Any]])
            return alerts.filter { $0["state"] as? String == "firing" }.compactMap { $0["labels"] as? [String: String] }
                .filter { $0["alertname"] == name }
        }

        /// The labels of each series that answers a query.
        func series(_ query: String) throws -> [[String: String]] {
            let result = try #require(try data("query?query=\(query)")["result"] as? [[String: Any]])
            return result.compactMap { $0["metric"] as? [String: String] }
        }

        func count(_ query: String) throws -> Int { try series(query).count }
    }

    private static let passing = SocketActivationTests.passing

    @Test func anAlertComesAndGoesWithItsCause() throws {
        let sandbox = try Sandbox()
        // One that goes on being well, and one whose action fails for good, so that something is pending.
        try sandbox.makeDirectory("kept", mode: 0o755)
        let well = sandbox.client("well", at: sandbox.directory("kept/well.jwt"))
        let failing = sandbox.client("app", more: "    on_change:\n      - exec: [/bin/false]\n")
        try sandbox.configure(sandbox.client("web") + failing + well)
        try sandbox.start(under: ["/usr/bin/python3", "-c", Self.passing, "metrics=\(sandbox.directory("port"))"])
        let port = try #require(UInt16(try sandbox.directory.read("port")))
        let watch = try Watch(port: port)
        try sandbox.eventually("a scrape") { try watch.count("process_open_fds") == 1 }
        #expect(try watch.count("up==1") == 1)
        #expect(try watch.count("clientsecretd_secret_ok==1") == 2)
        #expect(try watch.firing("ClientSecretOutputBroken") == [])
        try sandbox.eventually("what is not delivered") {
            try watch.firing("ClientSecretUndelivered").map { $0["client"] } == ["app"]
        }

        try sandbox.move("out", to: "away")
        try sandbox.eventually("an alert") { try watch.firing("ClientSecretOutputBroken").count == 2 }
        #expect(
            try watch.firing("ClientSecretOutputBroken").contains([
                "alertname": "ClientSecretOutputBroken", "client": "web", "path": sandbox.directory("out/web.jwt"),
                "instance": "127.0.0.1:\(port)", "job": "clientsecretd", "severity": "warning",
            ]))
        try Self.everyPanelShowsSomething(watch)
        try sandbox.move("away", to: "out")
        try sandbox.eventually("its end", within: 90) { try watch.firing("ClientSecretOutputBroken").isEmpty }
        #expect(try watch.firing("ClientSecretDaemonGone") == [])

        sandbox.stop(SIGKILL)
        try sandbox.eventually("another alert") {
            try watch.firing("ClientSecretDaemonGone").contains { $0["instance"] == "127.0.0.1:\(port)" }
        }
    }

    /// Each query of the dashboard's finds something while something is wrong, with the labels that its legend names.
    private static func everyPanelShowsSomething(_ watch: Watch) throws {
        let document = try object(
            String(contentsOfFile: repository + "/etc/grafana/clientsecretd.json", encoding: .utf8))
        let panels = try #require(document["panels"] as? [[String: Any]])
        let targets = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        #expect(targets.count > 15)
        for target in targets {
            let query = try #require(target["expr"] as? String)
            let found = try watch.series(query.replacing("$instance", with: ".+"))
            #expect(!found.isEmpty, "\(query)")
            let legend = target["legendFormat"] as? String ?? ""
            for label in legend.matches(of: #/\{\{(\w+)\}\}/#).map({ String($0.output.1) }) {
                #expect(found.allSatisfy { $0[label] != nil }, "\(label) of \(query)")
            }
        }
        let variables = try #require((document["templating"] as? [String: Any])?["list"] as? [[String: Any]])
        let asked = variables.compactMap { ($0["query"] as? [String: Any])?["query"] as? String }
        #expect(asked == ["label_values(clientsecretd_build_info, instance)"])
        #expect(try watch.series("clientsecretd_build_info").allSatisfy { $0["instance"] != nil })
    }
}
