import AppleClientSecret
import Config
import Formats
import Model
import StatusAPI
import Testing

@testable import clientsecretd

/// What `init --now` says of the client that it has added.
@Suite struct InitOutcomeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The clients of the service's snapshot, each with the reason why it fails, if it does.
        let clients: [(name: String, reason: String?)]
        var runningUnits: Set<String> = ["shop.service"]
        var isComplete = true
        /// Nil: there is no outcome.
        let lines: [String]?
    }

    @Test(arguments: [
        Row(
            testDescription: "served", clients: [("web", nil), ("blog", nil)],
            lines: ["Done. /srv/shop/.env has a secret until 2026-11-24, and shop.service was restarted."]),
        Row(
            testDescription: "served, but the application reads another file", clients: [("web", nil)],
            isComplete: false,
            lines: ["/srv/shop/.env has a secret until 2026-11-24, and shop.service was restarted."]),
        Row(
            testDescription: "a unit that is stopped was not restarted", clients: [("web", nil)], runningUnits: [],
            lines: ["Done. /srv/shop/.env has a secret until 2026-11-24."]),
        Row(
            testDescription: "another client fails", clients: [("blog", "/srv/blog: no"), ("web", nil)],
            lines: [
                "The configuration is loaded, but client \"blog\" fails (below). \"web\" is served.",
                "  blog: /srv/blog: no",
                "Done. /srv/shop/.env has a secret until 2026-11-24, and shop.service was restarted.",
            ]),
        Row(
            testDescription: "it fails itself", clients: [("blog", nil), ("web", "/srv/shop/.env: no")],
            lines: ["web: /srv/shop/.env: no"]),
        Row(
            testDescription: "both fail", clients: [("blog", "/srv/blog: no"), ("web", "/srv/shop/.env: no")],
            lines: [
                "The configuration is loaded, but client \"blog\" fails (below).", "  blog: /srv/blog: no",
                "web: /srv/shop/.env: no",
            ]),
        Row(testDescription: "the service does not know it", clients: [("blog", "/srv/blog: no")], lines: nil),
    ])
    func says(row: Row) throws {
        let first = NewConfigurationFile(
            key: .existing(try #require(KeyName("apple"))), name: try #require(ClientName("web")),
            client: try #require(ClientID("com.example.web")),
            destination: .file(
                NewConfigurationFile.OutputFile(path: try #require(AbsolutePath("/srv/shop/.env")), variable: "SECRET")),
            unit: "shop.service")
        let outcome = InitOutcome(
            of: first, in: try Self.snapshot(of: row.clients), isComplete: row.isComplete,
            isRunning: row.runningUnits.contains)
        #expect(outcome?.lines == row.lines)
        let isServed = row.clients.first { $0.name == "web" }.map { $0.reason == nil }
        #expect(outcome?.isServed == isServed)
    }

    private static func snapshot(of clients: [(name: String, reason: String?)]) throws -> Snapshot {
        try StatusJSON.snapshot(
            clients.map { name, reason in
                StatusJSON.client(
                    name, state: reason == nil ? "ok" : "critical", reason: reason, expires: "2026-11-24T04:31:00Z",
                    isDelivered: reason == nil,
                    actions: """
                        [{"action":"restart shop.service","state":"ok","ran_at":"2026-11-20T04:30:00Z","error":null}]
                        """)
            })
    }
}
