import Foundation
import TestSupport
import Testing

/// The file from which node_exporter tells of the secrets.
@Suite(.waits) struct MetricsFileTests {
    private static func sandbox(file: String = "metrics/ours.prom") throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.makeDirectory("metrics", mode: 0o755)
        try sandbox.configure(sandbox.client("web"), others: "metrics_file: \(sandbox.directory(file))")
        return sandbox
    }

    /// What the daemon answers at /metrics but for what is its process's and not its clients'.
    private static func served(_ sandbox: Sandbox) throws -> String {
        try sandbox.get("/metrics").body.split(separator: "\n").filter { !$0.contains("process_") }.map { $0 + "\n" }
            .joined()
    }

    private static func holdsWhatIsServed(_ sandbox: Sandbox, _ file: String = "metrics/ours.prom") throws {
        try sandbox.eventually("\(file) with what /metrics says") {
            try (try? sandbox.directory.read(file)) == served(sandbox)
        }
    }

    /// Whether a daemon that is not there would call itself well is not for its file to say; when a secret expires is.
    @Test func onlyTimesAreLeftWhenTheDaemonEnds() throws {
        let sandbox = try Self.sandbox()
        try sandbox.start()
        try Self.holdsWhatIsServed(sandbox)
        let running = try sandbox.directory.read("metrics/ours.prom").split(separator: "\n")
        #expect(running.contains { $0.hasPrefix("clientsecretd_build_info") })
        #expect(sandbox.stop() == 0)
        let left = try sandbox.directory.read("metrics/ours.prom").split(separator: "\n")
        #expect(left == running.filter { $0.contains("_timestamp_seconds") })
        #expect(left.count == 6 * 3)
        #expect(try sandbox.mode(of: "metrics/ours.prom") == 0o644)
        try sandbox.start()
        try Self.holdsWhatIsServed(sandbox)
    }

    @Test func aRunForOnceWritesItWhole() throws {
        let sandbox = try Self.sandbox()
        try sandbox.succeed("run", "--once")
        let text = try sandbox.directory.read("metrics/ours.prom")
        #expect(text.contains("clientsecretd_state{state=\"ok\"} 1\n"))
        #expect(text.contains("clientsecretd_mints_total{client=\"web\",result=\"success\"} 1\n"))
        try sandbox.remove("metrics")
        let failed = try sandbox.command("run", "--once")
        #expect(failed.status == 1)
        #expect(failed.complaints.contains("metrics/ours.prom: the metrics_file cannot be written"))
    }

    @Test func aMissingDirectoryIsReportedAndRecoveredFrom() throws {
        let sandbox = try Self.sandbox(file: "metrics/gone/ours.prom")
        let path = sandbox.directory("metrics/gone/ours.prom")
        let user = NSUserName() == "root" ? "root" : "user \"\(NSUserName())\""
        let remedy = "create \(sandbox.directory("metrics/gone")) for \(user)"
        let failure = "\(path): the metrics_file cannot be written, so node_exporter shows old metrics or none: "
        let directory = sandbox.directory("metrics/gone")
        let why = "its directory does not exist: \(directory) (no such file or directory)"
        let checked = try sandbox.command("check")
        #expect(checked.status == 1)
        #expect(
            checked.complaints.contains("clientsecretd.yaml:6:15: error: \(failure)\(why); \(remedy)"),
            "\(checked.complaints)")
        try sandbox.start()
        try sandbox.eventually("a word on it") { try sandbox.status()["state"] as? String == "degraded" }
        let status = try sandbox.status()
        let reason = try #require(status["reason"] as? String)
        #expect(reason.hasPrefix(failure + why), "\(reason)")
        #expect(reason.contains("; next attempt 20") && reason.contains("; " + remedy), "\(reason)")
        #expect((status["clients"] as? [[String: Any]])?.map { $0["state"] as? String } == ["ok"])
        #expect(try sandbox.command("health").status == 1)
        try sandbox.succeed("renew")
        let reloaded = try sandbox.command("reload")
        #expect(reloaded.status == 1 && reloaded.complaints.hasPrefix(failure + why), "\(reloaded.complaints)")
        try sandbox.makeDirectory("metrics/gone", mode: 0o755)
        // Without the pause after failures.
        try sandbox.succeed("reload")
        try sandbox.eventually("that it is over") { try sandbox.status()["state"] as? String == "ok" }
        try Self.holdsWhatIsServed(sandbox, "metrics/gone/ours.prom")
        // When it begins and when it ends, not at each attempt.
        let lines = try sandbox.log().split(separator: "\n").filter { $0.contains("the metrics_file") }
        #expect(lines.count == 2 && lines[1].hasPrefix("works again; it was: \(path)"), "\(lines)")
        try sandbox.succeed("check")
    }

    @Test(.needs(.root))
    func aDirectoryOfAnotherUsersIsAnsweredWithTheLinkToMake() throws {
        let sandbox = try Self.sandbox()
        try #require(unsafe chown(sandbox.directory("metrics"), 65_534, 65_534) == 0)
        let checked = try sandbox.command("check")
        #expect(checked.status == 1)
        #expect(
            checked.complaints.hasSuffix(
                """
                ; write a path in a directory that belongs to the daemon's user, and put a link to it where ours.prom is expected

                """), "\(checked.complaints)")
    }
}
