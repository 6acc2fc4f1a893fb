import Foundation
import TestSupport
import Testing

/// The last link of `doctor`: Apple's verdict.
@Suite(.needs(.venv)) struct DoctorTests {
    private let own: Operator

    init() throws {
        own = try Operator()
    }

    /// One file holds the current secret; only the other one lacks it.
    @Test func appleIsAskedAlsoWhereAnotherOutputLacksTheSecret() throws {
        let configuration = try own.directory.read("clientsecretd.yaml")
        try own.directory.write(
            configuration.replacingOccurrences(
                of: "outputs: [", with: "outputs: [{path: \(own.directory("other.jwt"))}, "), to: "clientsecretd.yaml")
        let finished = try own.ask(try own.standIn(), "doctor", "--json")
        let clients = try #require(try object(finished.output)["clients"] as? [[String: Any]])
        #expect(clients.first?["broken"] as? String == "outputs", "\(finished.output)")
        let links = try #require(clients.first?["links"] as? [[String: Any]])
        #expect(links.last?["state"] as? String == "ok", "\(finished.output)")
    }

    /// The state of Apple's link and the command's status.
    private func apple(_ standIn: StandIn) throws -> (state: String?, status: Int32) {
        let finished = try own.ask(standIn, "doctor", "--json")
        let clients = try #require(try object(finished.output)["clients"] as? [[String: Any]])
        let links = try #require(clients.first?["links"] as? [[String: Any]])
        return (links.last { $0["link"] as? String == "apple" }?["state"] as? String, finished.status)
    }

    @Test func aRefusedSecretIsABrokenLink() throws {
        let verdict = try apple(StandIn())
        #expect(verdict.state == "broken")
        #expect(verdict.status == 1)
    }

    @Test func anAcceptedSecretIsTheWholeWayAndWithoutAnAnswerNothingIsBroken() throws {
        let standIn = try own.standIn()
        #expect(try apple(standIn).state == "ok")
        try standIn.order("/auth/token status=503")
        #expect(try apple(standIn).state == "unknown")
    }
}
