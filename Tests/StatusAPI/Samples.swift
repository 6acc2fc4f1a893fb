import AppleClientSecret
import Failures
import Model
import TestSupport
import Testing

/// What the tests show: a client that is well, and one whose output cannot be written.
enum Samples {
    static let version = "0.1.0-test"
    static let start = WallTime(secondsSinceEpoch: 1_794_992_800)  // 2026-11-18T09:06:40Z

    static func name(_ text: String) throws -> ClientName {
        try #require(ClientName(text))
    }

    static func issued() throws -> SecretInfo {
        .sample(
            0x0123_4567_89AB_CDEF,
            .sample(issuedAt: start.secondsSinceEpoch, expiresAt: (start + 7_776_060).secondsSinceEpoch))
    }

    static func diskFull() throws -> Reason {
        Reason(
            failure: Failure(.diskFull, at: .path(try #require(AbsolutePath("/srv/app/.env"))), cause: 28),
            client: try name("api"), since: start + 60, nextAttempt: start + 120)
    }

    static func counts() -> ClientCounts {
        var counts = ClientCounts()
        counts.mints = Tally(successes: 3, failures: 1)
        counts.publishes = Tally(successes: 8, failures: 2)
        counts.deliveries = Tally(successes: 3, failures: 0)
        return counts
    }

    private static func path(_ text: String) throws -> AbsolutePath { try #require(AbsolutePath(text)) }

    static func web() throws -> ClientView {
        ClientView(
            name: try name("web"), clientID: try #require(ClientID("com.example.web")),
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")), health: .ok,
            reason: nil, current: try issued(), deliveredExpiresAt: start + 7_776_060, renewAt: start + 5_184_000,
            renewals: 3, counts: counts(), lastSuccessAt: start + 2, consecutiveFailures: 0,
            lastError: nil, delivered: true,
            outputs: [
                OutputView(
                    path: try path("/run/clientsecretd/out/web.jwt"), format: .raw, state: .ok,
                    writtenAt: start + 1, error: nil, repairs: 5)
            ],
            actions: [
                ActionView(action: ActionID("restart myapp.service"), state: .ok, ranAt: start + 2, error: nil)
            ])
    }

    static func api() throws -> ClientView {
        ClientView(
            name: try name("api"), clientID: try #require(ClientID("com.example.api")),
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")), health: .degraded,
            reason: try diskFull(), current: nil, deliveredExpiresAt: nil, renewAt: nil, renewals: 0,
            consecutiveFailures: 2, lastError: "no \"space\"\n\u{1B}[31m", delivered: false,
            outputs: [
                OutputView(
                    path: try path("/srv/app/.env"), format: .env,
                    state: .notResponding, writtenAt: nil, error: "no space")
            ],
            actions: [
                ActionView(action: ActionID("exec /bin/true 'a b'"), state: .pending, ranAt: nil, error: nil)
            ])
    }

    static func fleet() throws -> FleetView {
        func machine(_ name: String, _ state: FleetCounts.State, _ fingerprint: Fingerprint?, _ failure: String? = nil)
            -> FleetMachineView
        {
            FleetMachineView(
                machine: name, state: state,
                holding: MachineReport.Holding(
                    secret: fingerprint.map { SecretName($0) }, since: start, delivered: false, failure: failure),
                lastSeen: start + 5)
        }
        let current = try issued().fingerprint
        return FleetView(clients: [
            FleetClientView(
                name: try name("web"), fingerprint: current,
                counts: FleetCounts([.current: 7, .behind: 1, .failing: 1, .silent: 2], delivered: 6),
                machines: [machine("app17", .failing, current, "disk_full"), machine("app18", .behind, nil)]),
            FleetClientView(name: try name("api"), fingerprint: nil, counts: FleetCounts(), machines: []),
        ])
    }

    static func snapshot(_ health: HealthState = .degraded, ready: Bool = true) throws -> Snapshot {
        var snapshot = Snapshot(
            startedAt: start, ready: ready, health: health, reason: health == .ok ? nil : try diskFull(),
            clockTrusted: true,
            configuration: ConfigurationView(
                path: "/etc/clientsecretd/clientsecretd.yaml", loadedAt: start, error: nil),
            clients: [try api(), try web()])
        snapshot.version = version
        return snapshot
    }
}
