import Foundation
import TestSupport
import Testing

/// The real daemon with a client of each kind that Apple can be asked about, and a stand-in for Apple's four endpoints.
@Suite(.waits, .needs(.venv)) struct KindsTests {
    private let sandbox: Sandbox
    private let apple: StandIn
    private static let adsTeam = "SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577"
    private static let adsKeyID = "bacaebda-e219-41ee-a907-e2c25b24d1b2"
    /// Each client's name and where it is tried.
    private static let trials = [
        ("web", "/auth/token"), ("ads", "/auth/oauth2/token"), ("music", "/v1/test"), ("maps", "/v1/token"),
    ]

    init() throws {
        sandbox = try Sandbox()
        let adsKey = sandbox.directory("keys/ads.pem")
        // As the guides of Apple Ads make one.
        try runToSuccess([
            "sh", "-c",
            """
            umask 077
            openssl ecparam -name prime256v1 -genkey -noout -out '\(adsKey)' &&
            openssl ec -in '\(adsKey)' -pubout -out '\(sandbox.directory("ads.pub"))' &&
            openssl pkey -in '\(sandbox.key)' -pubout -out '\(sandbox.directory("apple.pub"))'
            """,
        ])
        apple = try StandIn(
            keys: [
                "ABC123DEFG:DEF123GHIJ:\(sandbox.directory("apple.pub"))",
                "\(Self.adsKeyID):\(Self.adsTeam):\(sandbox.directory("ads.pub"))",
            ], clients: ["com.example.web:DEF123GHIJ", "\(Self.adsTeam):\(Self.adsTeam)"])
        func output(_ name: String) -> String { "outputs: [{path: \(sandbox.directory("out/\(name).jwt"))}]" }
        try sandbox.directory.write(
            """
            keys:
              apple: {team_id: DEF123GHIJ, file: \(sandbox.key)}
              ads: {team_id: \(Self.adsTeam), key_id: \(Self.adsKeyID), file: \(adsKey)}
            state_dir: \(sandbox.state)
            defaults: {key: apple, verify: true, lifetime: max}
            clients:
              web: {client_id: com.example.web, \(output("web"))}
              ads: {kind: apple_ads, client_id: \(Self.adsTeam), key: ads, \(output("ads"))}
              music: {kind: music, origin: ["https://www.example.com", "https://example.com"], \(output("music"))}
              maps: {kind: maps, scope: server_api, \(output("maps"))}
            """, to: "clientsecretd.yaml")
    }

    /// Then a renewal that Apple refuses is not published. At most six requests are made in a minute.
    @Test func aClientOfEachKindIsRenewedWhereAppleAcceptsItsTokens() throws {
        let service = try apple.serve(sandbox)
        try sandbox.start()
        for (name, _) in Self.trials { try sandbox.awaitVerdict("accepted", on: name) }
        sandbox.awaitNextSecond()
        let first = try Self.trials.map { try sandbox.published($0.0) }
        _ = try sandbox.command("renew")
        for ((name, path), first) in zip(Self.trials, first) {
            try sandbox.eventually("the renewal of \(name)", within: 300) { try sandbox.published(name) != first }
            try sandbox.awaitVerdict("accepted", on: name)
            let log = try apple.log()
            #expect(log.count { $0.hasPrefix(path) } == 2, "\(log)")
            #expect(try sandbox.command("inspect", sandbox.directory("out/\(name).jwt")).status == 0)
        }
        let kinds = try Self.trials.map { try sandbox.client(named: $0.0)["kind"] as? String }
        #expect(kinds == ["sign_in", "apple_ads", "music", "maps"])
        #expect(try sandbox.client(named: "music")["client_id"] is NSNull)

        try apple.order(
            "/auth/token error=invalid_client", "/auth/oauth2/token error=invalid_client", "/v1/test empty=401",
            "/v1/token empty=401")
        sandbox.awaitNextSecond()
        let before = try Self.trials.map { try sandbox.published($0.0) }
        _ = try sandbox.command("renew")
        for (name, _) in Self.trials {
            try sandbox.awaitVerdict("refused", on: name)
            let reason = try sandbox.client(named: name)["reason"] as? String
            let words = ["web", "ads"].contains(name) ? "invalid_client" : "401"
            #expect(reason?.contains("Apple refused the new secret: \(words)") == true, "\(reason ?? "")")
        }
        #expect(try Self.trials.map { try sandbox.published($0.0) } == before)
        withExtendedLifetime(service) {}
    }
}
