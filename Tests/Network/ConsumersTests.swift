import Foundation
import TestSupport
import Testing

/// Programs of other people, set up as docs/apps.md says, that sign users in while their secret is renewed.
@Suite(.waits, .needs(.venv, .servers, .night)) struct ConsumersTests {
    private let own: Operator
    private let apple: StandIn
    private static let returnURL = "https://matrix.example.com/_synapse/client/oidc/callback"

    init() throws {
        own = try Operator()
        apple = try own.standIn("--client", "com.example.matrix:\(Operator.team):\(Self.returnURL)")
        try FileManager.default.removeItem(atPath: own.secretFile)
        // Apache gives up root before it reads.
        try own.directory.permit(0o755)
    }

    /// How the programs fared, as Tests/Support/consumers/sign-in.py prints it.
    private struct Report: Decodable {
        struct Logins: Decodable {
            let good: Int
            let failed: [String]
            let away: Int
        }
        let secrets: Int
        let logins: [String: Logins]
    }

    private func configure() throws {
        /// Signals a program of the test's by the file with its number.
        func signal(_ name: String, to program: String) -> String {
            "{exec: [/usr/bin/pkill, --signal, \(name), --pidfile, \(own.directory("\(program).pid"))]}"
        }
        try own.directory.write(
            """
            keys: {apple: {team_id: \(Operator.team), file: \(own.keyFile)}}
            state_dir: \(own.directory("state"))
            defaults: {lifetime: 2m, renew_before: 1m}
            clients:
              web:
                client_id: \(Operator.client)
                outputs:
                  - path: \(own.secretFile)
                  - {path: \(own.directory("web.env")), format: env, variable: APPLE_CLIENT_SECRET}
                  - {path: \(own.directory("appleid.apple.com.client")), format: json, mode: "0644"}
                on_change:
                  - \(signal("HUP", to: "gunicorn"))
                  - \(signal("TERM", to: "node"))
                  - exec: [\(own.directory("pocketbase/push"))]
              matrix:
                client_id: com.example.matrix
                outputs: [{path: \(own.directory("matrix.jwt"))}]
                on_change: [\(signal("TERM", to: "synapse"))]
            """, to: "clientsecretd.yaml")
    }

    /// Three renewals of secrets that live for two minutes, which is as often as a secret is renewed: some 200 s.
    @Test func programsOfTheGuideNeverSendAnExpiredSecret() throws {
        try own.directory.folder("state")
        try configure()
        let daemon = try Background([
            "/bin/sh", "-c",
            """
            echo started
            exec '\(own.binary)' run --config '\(own.configuration)' --socket '\(own.directory("sock"))' 2>'\(own.directory("log"))'
            """,
        ])
        defer { withExtendedLifetime(daemon) {} }
        let outputs = ["web.jwt", "web.env", "appleid.apple.com.client", "matrix.jwt"].map { own.directory($0) }
        // The limit ends a test in which nothing is published.
        for _ in 0..<600 where !outputs.allSatisfy(FileManager.default.fileExists) { usleep(100_000) }
        let programs = ["Gunicorn", "NotNotified", "Apache", "Envoy", "PocketBase", "Synapse", "Node"]
        let signedIn = try run(
            [
                python, repository + "/Tests/Support/consumers/sign-in.py", own.directory.path, apple.address,
                apple.authority, Binaries.network,
            ] + programs)
        let log = { (try? own.directory.read("log")) ?? "" }
        try #require(signedIn.status == 0, "\(signedIn.complaints)\n\(log())")
        let report = try JSONDecoder().decode(Report.self, from: Data(signedIn.output.utf8))
        #expect(report.secrets > 3, "\(log())")
        #expect(Set(report.logins.keys) == Set(programs))
        for (program, logins) in report.logins where program != "NotNotified" {
            #expect(logins.failed == [], "\(program)")
            #expect(logins.good > 20, "\(program)")
        }
        // What was never told goes on with the first secret, and is refused: the stand-in does judge.
        #expect(report.logins["NotNotified"]?.failed.count == 1)
        let answers = try apple.log().filter { $0.hasPrefix("/auth/token") }
        #expect(answers.last == "/auth/token invalid_client: expired")
        // PocketBase first tries each time whether it may send the secret in a header.
        let harmless = ["/auth/token tokens", "/auth/token invalid_client: no client_id or client_secret"]
        #expect(Set(answers.dropLast()).subtracting(harmless) == [])
    }
}
