import AppleClientSecret
import Digest
import Failures
import Model
import Testing

@testable import Push

/// What a read of a target with `redeploy` says of the deployment that serves in production.
@Suite struct ServingDeploymentTests {
    private static let now: Int64 = 1_800_000_000
    private static let hour: Int64 = 3600

    struct Kind: CustomTestStringConvertible, Sendable {
        let kind: PushKind
        let settings: [String: String]
        /// The answer to a read of the variable.
        let variable: String
        /// The path that shows what serves, and the answer for one that began so many seconds before now.
        let path: String
        let serving: @Sendable (Int64) -> String

        var testDescription: String { kind.name }
    }

    static let kinds = [
        Kind(
            kind: .vercel,
            settings: [
                "project": "shop", "team": "", "variable": "SECRET", "environments": #"["production"]"#,
            ],
            variable: #"{"envs":[{"key":"SECRET","target":["production"],"updatedAt":1}]}"#, path: "/v9/projects/shop",
            serving: { #"{"id":"prj_1","targets":{"production":{"id":"dpl_1","createdAt":\#((now - $0) * 1000)}}}"# }),
        Kind(
            kind: .netlify,
            settings: ["account": "a", "site": "b", "variable": "SECRET", "context": "production"],
            variable: #"{"key":"SECRET","is_secret":true,"values":[{"context":"production","value":"****"}]}"#,
            path: "/api/v1/sites/b",
            serving: {
                #"{"id":"b","published_deploy":{"id":"1","created_at":"\#(WallTime(secondsSinceEpoch: now - $0))"}}"#
            }),
    ]

    /// What a read says, and for what it asked.
    private func read(
        _ kind: Kind, writtenAgo seconds: Int64?, serving: String, redeploys: Bool = true, isDeployed: Bool = false
    ) -> (result: PushResult, paths: [String]) {
        var paths: [String] = []
        var exchange = PushExchange(
            PushRoleRequest(
                .read, secret: Token(Array(PushBed.secrets[0].utf8)),
                writtenAt: seconds.map { WallTime(secondsSinceEpoch: Self.now - $0) }, isDeployed: isDeployed),
            of: PushTarget(
                name: "production", kind: kind.kind, settings: kind.settings, endpoint: "https://api.example.com",
                caFile: nil, token: nil, redeploys: redeploys), token: "t", others: [:]
        ) { request in
            let path = String(request.address.description.dropFirst("https://api.example.com".count))
            paths.append(path)
            let body = path == kind.path ? serving : kind.variable
            return .success(
                HTTPAnswer(status: 200, body: Array(body.utf8), date: WallTime(secondsSinceEpoch: Self.now)))
        }
        return (exchange.run(), paths)
    }

    /// The application has the old secret, and would have it for ever.
    @Test(arguments: kinds) func aRollbackIsSeenByTheNextRead(kind: Kind) {
        let began = WallTime(secondsSinceEpoch: Self.now - 90_000)
        let old = read(kind, writtenAgo: 80_000, serving: kind.serving(90_000))
        #expect(old.result == .read(PushPlaceReading(holds: nil, use: .outdated("it began at \(began)"))))
        #expect(old.paths.allSatisfy { !$0.contains("deployments") && !$0.contains("builds") })
        let new = read(kind, writtenAgo: 80_000, serving: kind.serving(79_000))
        #expect(new.result == .read(PushPlaceReading(holds: nil, use: .used)))
    }

    /// What was pushed a moment ago may still be deployed. Clocks of an API's machines differ a little.
    @Test(arguments: kinds) func whatMayStillBeDeployedIsNotCalledOld(kind: Kind) {
        for (written, began) in [(Self.hour - 1, 90_000), (80_000, 80_200)] as [(Int64, Int64)] {
            let result = read(kind, writtenAgo: written, serving: kind.serving(began)).result
            #expect(result == .read(PushPlaceReading(holds: nil, use: .used)), "\(written) \(began)")
        }
    }

    /// The daemon saw its own deployment serve: what serves now was chosen since.
    @Test(arguments: kinds) func aRollbackSoonAfterTheDeploymentIsSeen(kind: Kind) {
        let began = WallTime(secondsSinceEpoch: Self.now - 90_000)
        let old = read(kind, writtenAgo: 600, serving: kind.serving(90_000), isDeployed: true)
        #expect(old.result == .read(PushPlaceReading(holds: nil, use: .outdated("it began at \(began)"))))
        let new = read(kind, writtenAgo: 600, serving: kind.serving(500), isDeployed: true)
        #expect(new.result == .read(PushPlaceReading(holds: nil, use: .used)))
    }

    /// Neither does what the API does not say.
    @Test(arguments: kinds) func whatIsNotShownIsNotCalledOld(kind: Kind) {
        for body in [
            "{}", #"{"targets":null}"#, #"{"published_deploy":null}"#, #"{"targets":{"production":{"id":"1"}}}"#,
        ] {
            let result = read(kind, writtenAgo: 80_000, serving: body).result
            #expect(result == .read(PushPlaceReading(holds: nil, use: .used)), "\(body)")
        }
        for (written, redeploys) in [(80_000, false), (nil, true)] as [(Int64?, Bool)] {
            let read = read(kind, writtenAgo: written, serving: kind.serving(90_000), redeploys: redeploys)
            #expect(read.paths.count == 1 && read.result == .read(PushPlaceReading(holds: nil, use: .used)))
        }
    }
}
