import AppleClientSecret
import Foundation
import Monitoring
import Testing

@testable import clientsecretd

@Suite struct StatusReportTests {
    private let now = WallTime(secondsSinceEpoch: 1_795_235_460)  // 2026-11-21T04:31:00Z
    private let pipe = Terminal(size: nil, environment: [:])

    private func client(
        _ name: String, state: String = "ok", reason: String? = nil, more: String = "\"delivered\":true",
        outputs: String = #"[{"path":"/run/a","format":"raw","state":"ok","written_at":null,"error":null}]"#
    ) -> String {
        let reason = reason.map { "\"\($0)\"" } ?? "null"
        return """
            {"name":"\(name)","client_id":"com.example.\(name)","team_id":"DEF123GHIJ","key_id":"ABC123DEFG",
             "state":"\(state)","reason":\(reason),"issued_at":"2026-11-20T04:30:00Z",
             "expires_at":"2026-11-22T04:31:00Z","delivered_expires_at":"2026-11-21T04:32:00Z",
             "renew_at":"2026-11-21T16:31:00Z","fingerprint":"sha256:0123456789abcdef","renewals":3,
             "consecutive_failures":0,"last_error":null,"outputs":\(outputs),"actions":[],\(more)}
            """
    }

    private func document(
        _ clients: [String], state: String = "ok", reason: String? = nil, error: String = "null"
    ) throws -> StatusDocument {
        let reason = reason.map { "\"\($0)\"" } ?? "null"
        let json = """
            {"version":"0.1.0","state":"\(state)","reason":\(reason),"started_at":"2026-11-21T01:31:00Z",
             "config":{"path":"/etc/c.yaml","loaded_at":"2026-11-21T01:31:00Z","error":\(error)},
             "clients":[\(clients.joined(separator: ","))]}
            """
        return try StatusDocument(json: Array(json.utf8))
    }

    private func lines(_ document: StatusDocument, on terminal: Terminal) -> [String] {
        StatusReport(document: document, now: now).lines(for: terminal).map(terminal.line)
    }

    @Test func everythingOk() throws {
        let headings = ["CLIENT", "STATE", "LIFE", "EXPIRES", "RENEWS", "MINTED", "OUTPUTS"]
        let cells = [
            "web", "ok", "##########..........", "in 24 hours (2026-11-22T04:31:00Z)",
            "in 12 hours (2026-11-21T16:31:00Z)",
            "3", "1 of 1 ok",
        ]
        func row(_ texts: [String]) -> String {
            zip(texts, [6, 5, 20, 34, 34, 6, 9]).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }.joined(separator: "  ")
        }
        #expect(
            lines(try document([client("web")]), on: pipe) == [
                "clientsecretd 0.1.0 is ok: 1 client, started 3 hours ago (2026-11-21T01:31:00Z)", "",
                row(headings).trimmingCharacters(in: .whitespaces), row(cells),
            ])
    }

    @Test func theWorstClientComesFirstAndItsReasonInWords() throws {
        let broken =
            #"[{"path":"/srv/x","format":"raw","state":"failed","written_at":null,"error":"/srv/x: the disk is full"},"#
            + #"{"path":"/srv/y","format":"raw","state":"failed","written_at":null,"error":"/srv/y: gone"}]"#
        let reason =
            "client \\\"shop\\\": /srv/x: the disk is full; since 2026-11-21T04:28:00Z; "
            + "next attempt 2026-11-21T04:31:27Z; df /srv"
        let shown = lines(
            try document(
                [
                    client("app"), client("late", state: "degraded", reason: "slow"),
                    client("shop", state: "critical", reason: reason, outputs: broken),
                ],
                state: "critical", reason: reason), on: pipe)
        #expect(shown[0].hasPrefix("clientsecretd 0.1.0 is critical: 3 clients"))
        #expect(shown[3...5].map { $0.prefix { $0 != " " } } == ["shop", "late", "app"])
        #expect(
            shown[6...] == [
                "",
                "shop is critical: /srv/x: the disk is full; since 2026-11-21T04:28:00Z (3 minutes ago); "
                    + "next attempt 2026-11-21T04:31:27Z (in 27 seconds); df /srv",
                "  /srv/y is failed: /srv/y: gone",
                "",
                "late is degraded: slow",
            ])
    }

    @Test func aReasonThatIsNoClientsIsTold() throws {
        let shown = lines(try document([client("web")], state: "degraded", reason: "the clock is wrong"), on: pipe)
        #expect(shown.last == "degraded: the clock is wrong")
    }

    @Test func aConfigurationThatWouldNotStartIsToldOnce() throws {
        let error = #""c.yaml:1:1: error: no clients; add one""#
        let alone = lines(try document([], error: error), on: pipe)
        #expect(
            alone.last == "The configuration in /etc/c.yaml would not start: c.yaml:1:1: error: no clients; add one")
        let both = lines(
            try document(
                [], state: "degraded", reason: "would not start: c.yaml:1:1: error: no clients; since now; add one",
                error: error), on: pipe)
        #expect(
            both[1...] == ["", "degraded: would not start: c.yaml:1:1: error: no clients; since now; add one"])
    }

    @Test func aSecretThatIsNotDeliveredLivesAsLongAsTheOneBefore() throws {
        let shown = lines(try document([client("web", more: #""delivered":false"#)]), on: pipe)
        #expect(shown[3].contains("#...................  in 60 seconds (2026-11-21T04:32:00Z)"))
    }

    @Test func withoutAClientThereIsNoTable() throws {
        #expect(lines(try document([]), on: pipe).count == 1)
    }

    /// At any width lines fit, but for words that are longer than a line by themselves; and the state is never lost.
    @Test(arguments: 1...160)
    func fitsTheTerminal(columns: Int) throws {
        let terminal = Terminal(size: (columns, 24), environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"])
        let shown = lines(try document([client("a-rather-long-name"), client("web", state: "critical")]), on: terminal)
        let table = shown.drop { !$0.isEmpty }.dropFirst().prefix(3)
        #expect(table.allSatisfy { $0.count <= columns }, "\(table)")
        if columns >= 48 { #expect(table.allSatisfy { $0.contains("in 24 hours") || $0.contains("EXPIRES") }) }
    }
}
