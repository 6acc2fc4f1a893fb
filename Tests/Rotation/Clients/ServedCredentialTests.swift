import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What the credential socket serves, and from when on.
@Suite struct ServedCredentialTests {
    private let web = "web"
    private let credential = ServedCredential(unit: "app.service", name: "secret")

    private func bench(
        id: String? = nil, outputs: [Output]? = [], actions: [Action] = []
    ) throws -> Bench {
        try Bench(try configuration(id: id, outputs: outputs, actions: actions))
    }

    private func configuration(
        id: String? = nil, outputs: [Output]? = [], actions: [Action] = [], isServed: Bool = true
    ) throws -> Configuration {
        try Values.configuration([
            web: Values.client(
                web, id: id, outputs: outputs, actions: actions, credential: isServed ? credential : nil)
        ])
    }

    private func served(_ bench: Bench) throws -> SecretInfo? {
        bench.served[try Values.name(web)]
    }

    @Test func aClientWithoutOutputsIsServedAndDelivered() throws {
        let bench = try bench().started()
        let current = try #require(try bench.current(web))
        #expect(try served(bench) == current)
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).deliveredExpiresAt == current.expiresAt)
    }

    /// A unit that starts meanwhile must not get a secret that a restarted daemon would not know.
    @Test func aNewSecretIsServedOnceItIsKept() throws {
        let bench = try bench().started()
        let old = try #require(try bench.current(web))
        let record = Resource.record(try Values.name(web))
        bench.held = [record]
        bench.ask(.renew(.init()))
        let new = try #require(try bench.current(web))
        #expect(new != old)
        #expect(try served(bench) == old)
        bench.release(record)
        #expect(try served(bench) == new)
    }

    @Test func aSecretThatCannotBeKeptIsServedAllTheSame() throws {
        let bench = try bench()
        bench.failures[.record(try Values.name(web))] = Failure(.diskFull, at: .named("state"))
        bench.go()
        #expect(try served(bench) == bench.current(web))
        #expect(try served(bench) != nil)
    }

    /// The restarted unit asks at once, and must not get the previous secret.
    @Test func aNewSecretIsServedBeforeTheActionRuns() throws {
        let restart = Action.unit(verb: .restart, unit: "app.service")
        let bench = try bench(outputs: nil, actions: [restart])
        bench.held = [.action(restart.id)]
        bench.go()
        for _ in 0..<3 {
            let current = try #require(try bench.current(web))
            #expect(bench.log.last == "run restart app.service for web")
            #expect(try served(bench) == current)
            bench.release(.action(restart.id))
            bench.held = [.action(restart.id)]
            bench.ask(.renew(.init()))
        }
    }

    /// Apple would refuse the old secret for the new id.
    @Test func aSecretForOtherIdsIsNotServedAnyMore() throws {
        let bench = try bench().started()
        #expect(try served(bench) != nil)
        bench.prints = [:]
        bench.reload(try configuration(id: "com.example.other"))
        #expect(try served(bench) == nil)
        try bench.replaceKey(by: "1", passing: 1)
        #expect(try served(bench)?.client.description == "com.example.other")
    }

    @Test func aReloadServesWhatIsInForceWithoutMinting() throws {
        let bench = try Bench(try configuration(outputs: nil, isServed: false)).started()
        let current = try #require(try bench.current(web))
        #expect(bench.served.isEmpty)
        bench.reload(try configuration(outputs: nil))
        #expect(try served(bench) == current)
        #expect(try bench.current(web) == current)
    }

    @Test func itsBytesAreNotForgotten() throws {
        let bench = try bench().started()
        let old = try #require(try served(bench))
        bench.held = [.record(try Values.name(web))]
        bench.ask(.renew(.init()))
        #expect(bench.rotation.fingerprintsInUse.contains(old.fingerprint))
    }
}
