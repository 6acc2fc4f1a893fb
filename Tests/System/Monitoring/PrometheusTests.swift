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

        init(job: String, port: UInt16) throws {
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
                  - job_name: \(job)
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
            let document = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
            return try #require(document?["data"] as? [String: Any])
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
        let watch = try Watch(job: "clientsecretd", port: port)
        try sandbox.eventually("a scrape") { try watch.count("process_open_fds") == 1 }
        #expect(try watch.count("up==1") == 1)
        #expect(try watch.count("clientsecretd_secret_ok==1") == 2)
        #expect(try watch.firing("ClientSecretOutputBroken") == [])
        try sandbox.eventually("what is not delivered") {
            try watch.firing("ClientSecretUndelivered").map { $0["client"] } == ["app"]
        }

        try FileManager.default.moveItem(atPath: sandbox.directory("out"), toPath: sandbox.directory("away"))
        try sandbox.eventually("an alert") { try watch.firing("ClientSecretOutputBroken").count == 2 }
        #expect(
            try watch.firing("ClientSecretOutputBroken").contains([
                "alertname": "ClientSecretOutputBroken", "client": "web", "path": sandbox.directory("out/web.jwt"),
                "instance": "127.0.0.1:\(port)", "job": "clientsecretd", "severity": "warning",
            ]))
        try Self.everyPanelShowsSomething(watch)
        try FileManager.default.moveItem(atPath: sandbox.directory("away"), toPath: sandbox.directory("out"))
        try sandbox.eventually("its end", within: 90) { try watch.firing("ClientSecretOutputBroken").isEmpty }
        #expect(try watch.firing("ClientSecretDaemonGone") == [])

        sandbox.stop(SIGKILL)
        try sandbox.eventually("another alert") {
            try watch.firing("ClientSecretDaemonGone").contains { $0["instance"] == "127.0.0.1:\(port)" }
        }
    }

    /// Each query of the dashboard's finds something while something is wrong, with the labels that its legend names.
    private static func everyPanelShowsSomething(_ watch: Watch) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: repository + "/etc/grafana/clientsecretd.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
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

    /// By way of the link that docs/prometheus.md has people make.
    @Test func nodeExporterShowsAQuietDaemonAndADeadOne() throws {
        let sandbox = try Sandbox()
        for name in ["metrics", "textfile"] {
            try sandbox.makeDirectory(name, mode: 0o755)
        }
        let file = sandbox.directory("metrics/clientsecretd.prom")
        let link = sandbox.directory("textfile/clientsecretd.prom")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        let configure = { (clients: String) in try sandbox.configure(clients, others: "metrics_file: \(file)") }
        // Due before long, but not again within a minute.
        let short = sandbox.client("web", lifetime: "70s", more: "    renew_before: 60s\n")
        try configure(short + sandbox.client("gone"))
        try sandbox.start()
        try sandbox.eventually("the file") { FileManager.default.fileExists(atPath: file) }
        // Killed, it leaves a file that calls everything well: only that a renewal passes without a word tells.
        sandbox.stop(SIGKILL)

        let exporter = try HTTPProgram(answering: "/") { port in
            [
                unpacked("usr/bin/prometheus-node-exporter", of: "node-exporter"), "--collector.disable-defaults",
                "--collector.textfile", "--collector.textfile.directory=\(sandbox.directory("textfile"))",
                "--web.disable-exporter-metrics", "--web.listen-address=127.0.0.1:\(port)",
            ]
        }
        let watch = try Watch(job: "node", port: exporter.port)
        try sandbox.eventually("that the file is stale") {
            try watch.firing("ClientSecretMetricsFileStale").map { $0["file"] } == [link]
        }
        #expect(try watch.count("clientsecretd_state{state=\"ok\"}==1") == 1)
        #expect(try watch.firing("ClientSecretDaemonGone") == [])
        try sandbox.start()
        #expect(try sandbox.command("renew", "web").status == 0)
        try sandbox.eventually("that it is not any more") {
            try watch.firing("ClientSecretMetricsFileStale").isEmpty
        }

        try sandbox.eventually("every sample of the file") {
            let told = try Self.samples(exporter.get("/metrics"))
            let written = Self.samples(try sandbox.directory.read("metrics/clientsecretd.prom"))
            return written.count > 20 && told.isSuperset(of: written)
        }
        let first = try #require(try exporter.get("/metrics"))
        #expect(first.contains("\nnode_textfile_scrape_error 0\n"))
        #expect(first.contains("node_textfile_mtime_seconds{file=\"\(link)\"}"))
        #expect(first.contains("client=\"gone\"") && first.contains("# HELP clientsecretd_state The state of"))
        try configure(short)
        #expect(try sandbox.command("reload").status == 0)
        try sandbox.eventually("that a client is gone") {
            try exporter.get("/metrics").map { !$0.contains("client=\"gone\"") && $0.contains("client=\"web\"") }
                == true
        }
        #expect(try watch.firing("ClientSecretDaemonGone") == [])
        // Stopped, it takes back what it said of itself.
        #expect(sandbox.stop() == 0)
        try sandbox.eventually("that the daemon is gone") {
            try watch.firing("ClientSecretDaemonGone").map { $0["instance"] } == ["127.0.0.1:\(exporter.port)"]
        }
        #expect(try watch.count("clientsecretd_secret_expiry_timestamp_seconds") == 1)
    }

    /// Name, labels and value of each sample: node_exporter writes numbers in its own way.
    private static func samples(_ text: String?) -> Set<String> {
        let lines = (text ?? "").split(separator: "\n").filter { $0.hasPrefix("clientsecretd_") }
        return Set(
            lines.map { line in
                let parts = line.split(separator: " ")
                return parts.dropLast().joined(separator: " ") + " \(parts.last.flatMap { Double($0) } ?? .nan)"
            })
    }
}
