import AppleClientSecret
import Model
import StatusAPI
import TestSupport
import Testing

/// Every address, over a real socket, to the last byte.
struct RouterTests {
    @Test func pages() throws {
        let snapshot = try Samples.snapshot()
        let harness = try Harness(show: snapshot)
        let document = snapshot.json + "\n"
        let json = "application/json"
        expectSame(try harness.ask("GET", "/v1/status"), Texts.answer("200 OK", json, document))
        expectSame(try harness.ask("GET", "/v1/status?x=1"), Texts.answer("200 OK", json, document))
        expectSame(try harness.ask("GET", "http://any/v1/status"), Texts.answer("200 OK", json, document))
        expectSame(
            try harness.ask("HEAD", "/v1/status"),
            Texts.answer("200 OK", json, nil, length: document.utf8.count))
        let client = try #require(document.firstRange(of: #"{"name":"web""#))
        let web = String(document[client.lowerBound...].dropLast(3)) + "\n"
        expectSame(try harness.ask("GET", "/v1/clients/web"), Texts.answer("200 OK", json, web))
        expectSame(try harness.ask("GET", "/v1/clients/%77e%62"), Texts.answer("200 OK", json, web))
        expectSame(
            try harness.ask("HEAD", "/v1/clients/web"),
            Texts.answer("200 OK", json, nil, length: web.utf8.count))
    }

    /// What the process takes up comes after the rest, and is another thing each time.
    @Test func metrics() throws {
        let snapshot = try Samples.snapshot()
        let harness = try Harness(show: snapshot)
        for _ in 1...2 {
            let answer = try harness.ask("GET", "/metrics")
            let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
            let text = try #require(parts.last)
            let type = "text/plain; version=0.0.4; charset=utf-8"
            expectSame(answer, Texts.answer("200 OK", type, String(text)))
            let known = Metrics.text(of: snapshot)
            #expect(text.hasPrefix(known))
            let rest = text.dropFirst(known.count).split(separator: "\n")
            #expect(rest.count == 7 * 3 && rest.allSatisfy { $0.contains(#/^(# (HELP|TYPE) )?process_/#) })
        }
    }

    @Test func health() throws {
        let harness = try Harness()
        let ask = { try harness.ask("GET", $0) }
        // Who comes before anything is known waits, as one does whose visit has started the daemon.
        let early = try harness.connect()
        try early.send(Texts.request("GET", "/healthz"))
        let reason = try Samples.diskFull().sentence
        harness.server.show(try Samples.snapshot(.ok, ready: false))
        expectSame(try early.readToEnd(), Texts.line("200 OK", "ok"))
        expectSame(try ask("/readyz"), Texts.line("503 Service Unavailable", "not ready"))
        harness.server.show(try Samples.snapshot(.degraded))
        expectSame(try ask("/healthz"), Texts.line("200 OK", "degraded: " + reason))
        expectSame(try ask("/readyz"), Texts.line("200 OK", "ready"))
        harness.server.show(try Samples.snapshot(.critical))
        expectSame(try ask("/healthz"), Texts.line("503 Service Unavailable", "critical: " + reason))
        expectSame(
            try harness.ask("HEAD", "/healthz"),
            Texts.answer(
                "503 Service Unavailable", "text/plain; charset=utf-8", nil, length: reason.utf8.count + 11))
    }

    @Test func renewals() throws {
        let issued = try Samples.issued()
        let web = try Samples.name("web")
        let api = try Samples.name("api")
        let harness = try Harness(show: try Samples.snapshot()) { request in
            guard case .renew(let renewal) = request else { return nil }
            if renewal.deliverOnly { return .renewed([RenewalOutcome(client: api, result: .failed("no \"space\""))]) }
            return .renewed([
                RenewalOutcome(client: api, result: .untouched), RenewalOutcome(client: web, result: .renewed(issued)),
            ])
        }
        let done =
            #"{"outcomes":[{"client":"api","result":"untouched","fingerprint":null,"issued_at":null,"expires_at":null,"#
            + #""error":null},{"client":"web","result":"renewed","fingerprint":"sha256:0123456789abcdef","#
            + #""issued_at":"2026-11-18T09:06:40Z","expires_at":"2027-02-16T09:07:40Z","error":null}]}"# + "\n"
        let failed = Texts.problem(
            500, "Internal Server Error", #"1 of 1 clients could not be renewed: client "api": no "space""#,
            members: #","outcomes":[{"client":"api","result":"failed","fingerprint":null,"issued_at":null,"#
                + #""expires_at":null,"error":"no \"space\""}]"#)
        let ok = Texts.answer("200 OK", "application/json", done)
        expectSame(try harness.ask("POST", "/v1/renew"), ok)
        expectSame(try harness.ask("POST", "/v1/renew", body: #"{"clients":["web","api"],"due_within":"1d12h"}"#), ok)
        expectSame(
            try harness.ask(
                "POST", "/v1/renew", body: #"{"due_within":3600,"skip_verify":true,"clients":null}"#,
                type: "application/json; charset=utf-8"), ok)
        expectSame(try harness.ask("POST", "/v1/clients/web/renew", body: #"{"deliver_only":true}"#), failed)
        expectSame(try harness.ask("POST", "/v1/clients/web/renew"), ok)
        #expect(
            harness.rotation.asked == [
                .renew(DaemonRequest.Renewal()),
                .renew(DaemonRequest.Renewal(clients: [web, api], dueWithin: 129_600)),
                .renew(DaemonRequest.Renewal(dueWithin: 3600, skipVerify: true)),
                .renew(DaemonRequest.Renewal(clients: [web], deliverOnly: true)),
                .renew(DaemonRequest.Renewal(clients: [web])),
            ])
    }

    @Test func reloads() throws {
        let harness = try Harness(show: try Samples.snapshot())
        let answers: [(Answer, String)] = [
            (.reloaded(unserved: []), Texts.reloaded()),
            (
                .reloaded(unserved: ["client \"web\": no key"]),
                Texts.answer(
                    "200 OK", "application/json", #"{"unserved":["client \"web\": no key"],"orphaned":[]}"# + "\n")
            ),
            (
                .refused(diagnostics: ["c.yaml:1:1: error: a", "c.yaml:2:1: error: b"]),
                Texts.problem(
                    422, "Unprocessable Entity",
                    "the configuration is refused, and the previous one stays current",
                    members: #","diagnostics":["c.yaml:1:1: error: a","c.yaml:2:1: error: b"]"#)
            ),
            (
                .unread(diagnostics: ["c.yaml:1:1: error: not responding"]),
                Texts.problem(
                    500, "Internal Server Error",
                    "the configuration cannot be read, and the previous one stays current",
                    members: #","diagnostics":["c.yaml:1:1: error: not responding"]"#)
            ),
            (
                .unknownClients([try Samples.name("wbe"), try Samples.name("x")]),
                Texts.problem(404, "Not Found", #"there is no client "wbe" (did you mean "web"?), "x""#)
            ),
            (.stopping, Texts.problem(503, "Service Unavailable", "the daemon is stopping")),
        ]
        for (number, (answer, text)) in answers.enumerated() {
            let connection = try harness.asking(Texts.request("POST", "/v1/reload"), number: number + 1)
            harness.rotation.answer(number, answer)
            expectSame(try connection.readToEnd(), text)
        }
    }
}
