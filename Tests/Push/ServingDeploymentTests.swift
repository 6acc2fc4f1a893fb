import AppleClientSecret
import Digest
import Failures
import Model
import Testing

@testable import Push

/// What a read of a target with `redeploy` says of the deployment that serves in production.
@Suite struct ServingDeploymentTests {
    private static let hour: Int64 = 3600

    struct Kind: CustomTestStringConvertible, Sendable {
        let place: ScriptedPlace
        /// The answer to a read of the variable.
        let variable: String
        /// The path that shows what serves, and the answer for one that began so many seconds before now.
        let path: String
        let serving: @Sendable (Int64) -> String

        var testDescription: String { place.kind.name }
    }

    static let kinds = [
        Kind(
            place: .vercel, variable: #"{"envs":[{"key":"SECRET","target":["production"],"updatedAt":1}]}"#,
            path: "/v9/projects/shop",
            serving: {
                let began = ScriptedPlace.ago($0).secondsSinceEpoch * 1000
                return #"{"id":"prj_1","targets":{"production":{"id":"dpl_1","createdAt":\#(began)}}}"#
            }),
        Kind(
            place: .netlify,
            variable: #"{"key":"SECRET","is_secret":true,"values":[{"context":"production","value":"****"}]}"#,
            path: "/api/v1/sites/b",
            serving: { #"{"id":"b","published_deploy":{"id":"1","created_at":"\#(ScriptedPlace.ago($0))"}}"# }),
    ]

    /// What a read says, and for what it asked.
    private func read(
        _ kind: Kind, writtenAgo seconds: Int64?, serving: String, redeploys: Bool = true, isDeployed: Bool = false
    ) -> (result: PushResult, paths: [String]) {
        var place = kind.place
        place.redeploys = redeploys
        var paths: [String] = []
        let request = PushRoleRequest(
            .read, secret: ScriptedPlace.secret, writtenAt: seconds.map(ScriptedPlace.ago), isDeployed: isDeployed)
        let result = place.exchange(request) { request in
            let path = String(request.address.description.dropFirst("https://api.example.com".count))
            paths.append(path)
            return ScriptedPlace.answer(200, path == kind.path ? serving : kind.variable)
        }
        return (result, paths)
    }

    private static let used = PushResult.read(PushPlaceReading(holds: nil, use: .used))

    /// The application has the old secret, and would have it for ever.
    @Test(arguments: kinds) func aRollbackIsSeenByTheNextRead(kind: Kind) {
        for (written, began, isDeployed, isOld) in [
            (80_000, 90_000, false, true), (80_000, 79_000, false, false),
            // The daemon saw its own deployment serve: what serves now was chosen since.
            (600, 90_000, true, true), (600, 500, true, false),
            // What was pushed a moment ago may still be deployed. Clocks of an API's machines differ a little.
            (Self.hour - 1, 90_000, false, false), (80_000, 80_200, false, false),
        ] as [(Int64, Int64, Bool, Bool)] {
            let read = read(kind, writtenAgo: written, serving: kind.serving(began), isDeployed: isDeployed)
            let outdated = PushPlaceUse.outdated("it began at \(ScriptedPlace.ago(began))")
            let expected: PushResult = isOld ? .read(PushPlaceReading(holds: nil, use: outdated)) : Self.used
            #expect(read.result == expected, "\(written) \(began)")
            #expect(read.paths.allSatisfy { !$0.contains("deployments") && !$0.contains("builds") })
        }
    }

    /// Neither does what the API does not say.
    @Test(arguments: kinds) func whatIsNotShownIsNotCalledOld(kind: Kind) {
        for body in [
            "{}", #"{"targets":null}"#, #"{"published_deploy":null}"#, #"{"targets":{"production":{"id":"1"}}}"#,
        ] {
            #expect(read(kind, writtenAgo: 80_000, serving: body).result == Self.used, "\(body)")
        }
        for (written, redeploys) in [(80_000, false), (nil, true)] as [(Int64?, Bool)] {
            let read = read(kind, writtenAgo: written, serving: kind.serving(90_000), redeploys: redeploys)
            #expect(read.paths.count == 1 && read.result == Self.used)
        }
    }
}
