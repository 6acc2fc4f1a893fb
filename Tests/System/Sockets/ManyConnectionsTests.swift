import Foundation
import TestSupport
import Testing

/// Whoever looks at the daemon cannot hurt it. Takes half a minute, most of it waiting; how fast it answers is measured
/// by `Benchmarks/observe.sh`.
@Suite(.waits, .needs(.root)) struct ManyConnectionsTests {
    private struct Seen: Decodable {
        let asked: Int
        let answers: [String: Int]
        let held: Int
    }

    private func descriptors(_ sandbox: Sandbox) throws -> Int {
        let process = try #require(sandbox.processID)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    /// - Parameter file: they stay until it has changed.
    private func visit(
        _ sandbox: Sandbox, idle: Int, slow: Int, seconds: Int, untilChanged file: String? = nil
    ) throws -> Seen {
        let program = repository + "/Tests/Support/many-connections.py"
        let crowd = try run(
            ["timeout", "5m", "python3", program, sandbox.socket, String(idle), String(slow), String(seconds)]
                + [file].compactMap { $0 })
        try #require(crowd.status == 0, "\(crowd.complaints)")
        return try JSONDecoder().decode(Seen.self, from: Data(crowd.output.utf8))
    }

    @Test func aCrowdKeepsNeitherRootFromBeingAnsweredNorASecretFromBeingRenewed() throws {
        let sandbox = try Sandbox()
        // Due after a minute of its clock, of which eight pass in a minute: in the middle of it.
        _ = try TimeTravel(
            sandbox, kernelSynchronised: true, from: "+0d x8", lifetime: "600s", more: "    renew_before: 540s\n",
            others: "control_group: games")
        try sandbox.awaitRest(seconds: 1)
        func client() throws -> [String: Any] {
            try #require((try sandbox.status()["clients"] as? [[String: Any]])?.first)
        }
        let before = try descriptors(sandbox)
        let seen = try visit(
            sandbox, idle: 1000, slow: 200, seconds: 15, untilChanged: sandbox.directory("out/web.jwt"))
        #expect(seen.asked > 0)
        #expect(seen.answers == ["200": seen.asked])
        // It was a crowd: all took what all but root and the daemon may have.
        #expect(seen.held >= 60)
        // And no more than those and a queue of 128: the others were hung up on.
        #expect(seen.held < 300)
        #expect(try #require(try client()["renewals"] as? Int) >= 2)
        try sandbox.eventually("peace") { try sandbox.status()["state"] as? String == "ok" }
        try sandbox.eventually("the return of all descriptors") { try descriptors(sandbox) == before }
        // There is room again for as many as before.
        #expect(try visit(sandbox, idle: 64, slow: 0, seconds: 6).held >= 60)
    }
}
