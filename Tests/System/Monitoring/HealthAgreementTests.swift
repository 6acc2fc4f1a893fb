import Foundation
import TestSupport
import Testing

/// One judgement, carried by every channel: what one says, all say.
@Suite(.waits) struct HealthAgreementTests {
    /// What each channel says of the daemon now, as monitoring's exit code.
    private func verdicts(_ sandbox: Sandbox) throws -> [String: Int] {
        let codes = ["ok": 0, "degraded": 1, "critical": 2]
        func code(_ word: Substring?) -> Int { word.flatMap { codes[String($0)] } ?? -1 }
        let status = try object(sandbox.command("status", "--json").output)
        let clients = try #require(status["clients"] as? [[String: Any]])
        let metrics = try sandbox.get("/metrics").body.split(separator: "\n")
        let state = metrics.first { $0.hasPrefix("clientsecretd_state{") && $0.hasSuffix(" 1") }
        let isOK = metrics.first { $0.hasPrefix("clientsecretd_secret_ok{") }
        let healthz = try sandbox.get("/healthz")
        let table = try sandbox.command("status").output
        let health = try sandbox.command("health")
        let offline = try sandbox.command("health", "--offline")
        let words = ["OK": 0, "WARNING": 1, "CRITICAL": 2]
        let verdict = code((status["state"] as? String)?[...])
        var verdicts = [
            "status --json": verdict,
            "the client in it": code((clients.first?["state"] as? String)?[...]),
            "/v1/clients/web": code(
                try sandbox.get("/v1/clients/web").body.firstMatch(of: /"key_id":"\w+","state":"(\w+)"/)?.output.1),
            "sd_notify's STATUS": code(sandbox.told("STATUS")?.prefix { $0 != ":" }),
            "clientsecretd_state": code(state?.split(separator: "\"").dropFirst().first),
            "status": code(table.split(separator: ":").first?.split(separator: " ").last),
            "health": Int(health.status),
            "health --offline": Int(offline.status),
            "health's word": words[String(health.output.split(separator: " ").dropFirst().first ?? "")] ?? -1,
            "/healthz": code(healthz.body.split(whereSeparator: { !$0.isLetter }).first { codes[String($0)] != nil }),
        ]
        // These two only tell a part of it.
        verdicts["/healthz's status"] = healthz.status.contains(" 503 ") == (verdict == 2) ? verdict : -1
        let pending = metrics.first { $0.hasPrefix("clientsecretd_deliveries_pending{") }
        let actions = clients.first?["actions"] as? [[String: Any]] ?? []
        let count = actions.count { $0["state"] as? String != "ok" }
        verdicts["clientsecretd_deliveries_pending"] = pending?.hasSuffix(" \(count)") == true ? verdict : -1
        let haveData = [health, offline].map { $0.output.contains("| 'web'=") }
        verdicts["performance data"] = haveData[0] == haveData[1] ? verdict : -1
        verdicts["clientsecretd_secret_ok"] = isOK?.hasSuffix(" 1") == (verdict == 0) ? verdict : -1
        return verdicts
    }

    private func expect(_ code: Int, _ what: String, _ sandbox: Sandbox) throws {
        var last: [String: Int] = [:]
        for _ in 0..<100 {
            last = try verdicts(sandbox)
            if last.values.allSatisfy({ $0 == code }) { return }
            usleep(100_000)
        }
        Issue.record("\(what): not all say \(code): \(last)\n\(try sandbox.command("status").output)")
    }

    @Test func throughAWholeLifeAllChannelsSayTheSame() throws {
        let sandbox = try Sandbox()
        let told = sandbox.directory("told")
        let hook = try sandbox.directory.write("#!/bin/sh\ntest -e \(told)\n", to: "hook", mode: 0o755)
        let client = sandbox.client(
            "web", lifetime: "60s", more: "    renew_before: 20s\n    on_change:\n      - exec: [\(hook)]\n")
        try sandbox.configure(client)
        try sandbox.start()
        try expect(1, "published, not delivered", sandbox)
        // No application was told of a secret, so none of them runs out.
        #expect(try !sandbox.command("health", "--offline").output.contains("'web'="))
        try sandbox.directory.write("", to: "told")
        try sandbox.succeed("renew", "--deliver-only")
        try expect(0, "delivered", sandbox)
        try sandbox.permit(sandbox.directory("out"), 0o770)
        try expect(1, "an output that cannot be written", sandbox)
        try sandbox.permit(sandbox.directory("out"), 0o700)
        try sandbox.remove("out/web.jwt")
        try sandbox.makeDirectory("out/web.jwt")
        try expect(2, "an output that cannot be read either", sandbox)
        try sandbox.remove("out/web.jwt")
        try expect(0, "fixed", sandbox)
        // Nothing to sign with any more: overdue, then nearer to its end than a third of the window, then over.
        try sandbox.move("keys/AuthKey_ABC123DEFG.p8", to: "key")
        try expect(1, "no key", sandbox)
        try sandbox.eventually("running out") { try sandbox.command("health").status == 2 }
        try expect(2, "running out", sandbox)
        try sandbox.eventually("expiry") { try sandbox.command("health").output.contains("'web'=0s") }
        try expect(2, "expired", sandbox)
        #expect(try sandbox.command("health", "--offline").status == 2)
        try sandbox.move("key", to: "keys/AuthKey_ABC123DEFG.p8")
        try expect(0, "the key again", sandbox)
        try sandbox.succeed("health", "--offline")
        sandbox.stop()
        let health = try sandbox.command("health")
        #expect(health.status == 1)
        #expect(health.output.hasPrefix("CLIENTSECRETD WARNING - no daemon can be reached"))
        #expect(health.output.contains("| 'web'="))
    }

    /// Whether a single run would help is not known: the daemon may only hang, or be refused the same file.
    @Test(arguments: [["--offline"], []]) func withoutADaemonNothingIsAdvisedThatMayFail(_ flags: [String]) throws {
        let sandbox = try Sandbox(clients: "web")
        let health = try sandbox.command(["health"] + flags)
        #expect(health.status == 2)
        let check = "check --config \(sandbox.configuration) --socket \(sandbox.socket)"
        let advice = "see what the daemon would do, and what is in its way (clientsecretd \(check))"
        #expect(health.output.contains("; \(advice); "), "\(health.output)")
        #expect(try sandbox.command(check.split(separator: " ").map(String.init)).output.contains("would mint"))
    }

    /// Monitoring that gets no line goes by the exit code alone.
    @Test func withoutAReaderTheExitCodeIsNotThatOfGoodHealth() throws {
        let sandbox = try Sandbox(clients: "web")
        let script = """
            import os, subprocess, sys
            def code(out): print(subprocess.run(sys.argv[1:], stdout=out, stderr=subprocess.DEVNULL).returncode, end=" ")
            reader, pipe = os.pipe()
            os.close(reader)
            code(pipe)
            code(open("/dev/full", "w"))
            print(subprocess.run(["sh", "-c", '"$@" >&-', "sh"] + sys.argv[1:], stderr=subprocess.DEVNULL).returncode)
            """
        func codes() throws -> String {
            try run(
                ["/usr/bin/python3", "-c", script, sandbox.binary, "health", "--offline"],
                environment: sandbox.environment
            ).output
        }
        #expect(try codes() == "2 2 2\n")
        try sandbox.succeed("run", "--once")
        #expect(try codes() == "1 1 1\n")
    }

    @Test func aFailureToJudgeIsUnknown() throws {
        let sandbox = try Sandbox()
        let without = try sandbox.command("health", "--offline")
        #expect(without.status == 3)
        #expect(without.output.hasPrefix("CLIENTSECRETD UNKNOWN - "))
        // The default configuration's secrets are not those of a daemon on another socket, whose silence is a warning.
        let other = try run([sandbox.binary, "health", "--socket", sandbox.directory("other.sock")])
        #expect(other.status == 1)
        #expect(other.output.hasPrefix("CLIENTSECRETD WARNING - "), "\(other.output)")
        #expect(other.output.contains("name its configuration with --config"), "\(other.output)")
        try sandbox.configure(sandbox.client("web"))
        let empty = try sandbox.command("health", "--offline")
        #expect(empty.status == 2)
        #expect(
            empty.output.hasPrefix(
                "CLIENTSECRETD CRITICAL - \(sandbox.directory("out/web.jwt")): there is no usable secret"))
    }
}
