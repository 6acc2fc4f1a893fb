import Foundation
import TestSupport
import Testing

/// Whoever looks at the daemon cannot hurt it. Takes 70 s, most of them waiting; how fast it answers is measured by
/// `Benchmarks/observe.sh`.
@Suite(.needsRoot("comes as many users")) struct CrowdTests {
    private struct Seen: Decodable {
        let asked: Int
        let answers: [String: Int]
        let held: Int
    }

    private func descriptors(_ sandbox: Sandbox) throws -> Int {
        let process = try #require(sandbox.processID)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private func moment(_ client: [String: Any], _ name: String) throws -> Date {
        try Date(try #require(client[name] as? String), strategy: .iso8601)
    }

    @Test func aCrowdKeepsNeitherRootFromBeingAnsweredNorASecretFromBeingRenewed() throws {
        let sandbox = try Sandbox()
        // Due after a minute, less a jitter of up to 3 s: in the middle of it.
        try sandbox.configure(sandbox.client("web", lifetime: "120s", more: "    renew_before: 60s\n"))
        try sandbox.start()
        func client() throws -> [String: Any] {
            try #require((try sandbox.status()["clients"] as? [[String: Any]])?.first)
        }
        let due = try moment(try client(), "renew_at")
        Thread.sleep(until: due.addingTimeInterval(-8))
        let before = try descriptors(sandbox)
        let crowd = try run(["python3", repository + "/Tests/Visitors/crowd.py", sandbox.socket, "1000", "200", "15"])
        try #require(crowd.status == 0, "\(crowd.complaints)")
        let seen = try JSONDecoder().decode(Seen.self, from: Data(crowd.output.utf8))
        #expect(seen.asked > 0)
        #expect(seen.answers == ["200": seen.asked])
        // It was a crowd: all took what all but root and the daemon may have.
        #expect(seen.held >= 60)
        #expect(try client()["renewals"] as? Int == 2)
        // By its own clock; `iat` lies a minute back.
        let late = try moment(try client(), "issued_at").addingTimeInterval(60).timeIntervalSince(due)
        #expect(late < 30)
        #expect(try sandbox.status()["state"] as? String == "ok")
        try sandbox.eventually("the return of all descriptors") { try descriptors(sandbox) == before }
    }
}
