import Foundation
import TestSupport
import Testing

/// Without systemd the daemon itself keeps the configuration that it has adopted; with it, `bed/adopted.sh` shows more.
@Suite(.waits) struct ConfigurationFallbackTests {
    private func served() throws -> (Sandbox, token: String) {
        let sandbox = try Sandbox.running("web")
        try sandbox.eventually("the text is kept") { try !copies(sandbox).isEmpty }
        let token = try sandbox.published()
        sandbox.stop()
        return (sandbox, token)
    }

    private func copies(_ sandbox: Sandbox) throws -> [String] {
        guard FileManager.default.fileExists(atPath: sandbox.kept("adopted")) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: sandbox.kept("adopted"))
            .filter { $0.hasSuffix(".json") }
    }

    private func configurationError(_ sandbox: Sandbox) throws -> String {
        try #require((sandbox.status()["config"] as? [String: Any])?["error"] as? String)
    }

    @Test func aTypoIsNoOutage() throws {
        let (sandbox, token) = try served()
        try sandbox.configure(sandbox.client("web", more: "    lifetme: 3d\n    renew: 1d"))
        try sandbox.remove("out/web.jwt")
        try sandbox.start()
        #expect(try sandbox.status()["state"] as? String == "degraded")
        let error = try configurationError(sandbox)
        #expect(error.contains("lifetme") && error.contains("renew"), "\(error)")
        #expect(try sandbox.log().contains("so the last good one is current"))
        #expect(try sandbox.command("renew").status == 1)
        #expect(try sandbox.published() == token)
        for arguments in [["check"], ["reload"], ["run", "--once"]] {
            #expect(try sandbox.command(arguments).status == 78)
        }
        try sandbox.configure(sandbox.client("web") + sandbox.client("shop"))
        try sandbox.succeed("reload")
        #expect(try sandbox.status()["state"] as? String == "ok")
        sandbox.stop()
        // What a reload has adopted is kept as well.
        try sandbox.remove("clientsecretd.yaml")
        try sandbox.start()
        #expect(try (sandbox.status()["clients"] as? [Any])?.count == 2)
        #expect(try configurationError(sandbox).contains("there is no such file"))
    }

    /// By the published files it can be judged with no daemon to ask, and it is a warning at least.
    @Test func healthGoesByItToo() throws {
        let (sandbox, _) = try served()
        try sandbox.configure(sandbox.client("web", more: "    lifetme: 3d"))
        let judged = try sandbox.command("health", "--offline")
        #expect(judged.status == 1, "\(judged.output)")
        #expect(judged.output.contains("would not start"), "\(judged.output)")
        #expect(judged.output.contains("lifetme"), "\(judged.output)")
        try sandbox.remove("out/web.jwt")
        #expect(try sandbox.command("health", "--offline").status == 2)
    }

    @Test func withoutACopyItDoesNotStart() throws {
        let (sandbox, _) = try served()
        try sandbox.configure(sandbox.client("web", more: "    lifetme: 3d"))
        for copy in try copies(sandbox) {
            // One that others may have written is none.
            try sandbox.permit(sandbox.kept("adopted/" + copy), 0o666)
        }
        try sandbox.start(waiting: false)
        try sandbox.eventually("it ends") { !sandbox.isRunning }
        #expect(sandbox.stop() == 78)
        #expect(try sandbox.log().contains("lifetme"))
    }
}
