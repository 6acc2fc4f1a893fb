import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What an application may hold although the daemon no longer knows: its action was edited, its client renamed, the
/// state directory lost.
@Suite struct DeliveriesMemoryTests {
    private let web = "web"
    private let after = Values.exec("/bin/after")
    /// A third of `renew_before`.
    private let third = 10 * Values.day

    /// A client whose application was notified of a secret that lasts for 90 days, and whose action fails from now on.
    private func delivered() throws -> (Bench, first: SecretInfo) {
        let bench = try Bench([web: try Values.client(web, actions: [after])]).started()
        let first = try #require(try bench.current(web))
        for action in [after, Values.exec("/bin/other")] {
            bench.failures[.action(action.id)] = Failure(.actionFailed, at: .action(action.id))
        }
        return (bench, first)
    }

    /// Days later the application still holds the first secret, now critical, although a new one is published.
    private func expectEmergency(_ bench: Bench, _ client: String, _ first: SecretInfo) throws {
        #expect(try bench.view(client).health == .degraded)
        bench.sleep(90 * Values.day - third)
        #expect(try bench.current(client) != first)
        #expect(try bench.view(client).health == .critical)
        #expect(try bench.view(client).deliveredExpiresAt == first.expiresAt)
    }

    @Test func anActionThatWasEditedReachesTheSameApplication() throws {
        let (bench, first) = try delivered()
        try bench.reload([web: try Values.client(web, actions: [Values.exec("/bin/other")])])
        try expectEmergency(bench, web, first)
        // An old action's delivery no longer counts once its successor has delivered something.
        bench.failures = [:]
        bench.pass(3600)
        #expect(try bench.view(web).health == .ok)
        bench.failures[.action(after.id)] = Failure(.actionFailed, at: .action(after.id))
        let both = [Values.exec("/bin/other"), after]
        try bench.reload([web: try Values.client(web, actions: both)])
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).deliveredExpiresAt == nil)
    }

    /// Until it has run again, also for who judges by the record alone.
    @Test func whyAnActionFailedIsKnownAfterARestart() throws {
        let bench = try Bench([web: try Values.client(web, actions: [after])])
        let failure = Failure(.actionFailed, at: .action(after.id), detail: "exit status 3")
        bench.failures[.action(after.id)] = failure
        bench.go()
        #expect(bench.records[try Values.name(web)]?.failed == [after.id: failure.message])
        bench.held = [.action(after.id)]
        try bench.restart(bench.rotation.configuration, ofMachine: false)
        #expect(try bench.view(web).actions.map(\.error) == [failure.message])
        #expect(try bench.view(web).reason?.failure.detail == failure.message)
        bench.failures = [:]
        bench.release(.action(after.id))
        #expect(try bench.view(web).health == .ok)
        #expect(bench.records[try Values.name(web)]?.failed == [:])
    }

    @Test func aRenamedClientsApplicationHoldsTheSecretInItsOutputs() throws {
        let (bench, first) = try delivered()
        try bench.reload(["shop": try Values.client(web, actions: [after])])
        try expectEmergency(bench, "shop", first)
    }

    /// As a commit that is reverted. The unit that reads the credential has been given the other client's secret meanwhile.
    @Test func aClientThatComesBackDeliversAgain() throws {
        func entry(_ name: String) throws -> ClientConfiguration {
            try Values.client(
                name, outputs: [], actions: [after], credential: ServedCredential(unit: "app.service", name: "secret"))
        }
        let bench = try Bench([web: entry(web)]).started()
        let first = try #require(try bench.current(web))
        try bench.reload(["shop": entry("shop")])
        #expect(try bench.current("shop") != first)
        bench.forget()
        try bench.reload([web: entry(web)], 2)
        #expect(try bench.current(web) == first)
        #expect(bench.runs == ["exec /bin/after for web"])
        #expect(try bench.view(web).health == .ok)
        // Once.
        try bench.restart(bench.rotation.configuration)
        #expect(bench.runs == [])
    }

    @Test func aSecretFoundWithoutAMemoryMayBeTheApplications() throws {
        let (bench, first) = try delivered()
        bench.records = [:]
        try bench.restart(bench.rotation.configuration)
        #expect(try bench.current(web) == first)
        bench.sleep(61 * Values.day)
        // From now on only the record says so: the file holds a newer secret.
        try bench.restart(bench.rotation.configuration)
        #expect(try bench.current(web) != first)
        bench.pass(Values.day)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).deliveredExpiresAt == first.expiresAt)
        bench.sleep(20 * Values.day)
        #expect(try bench.view(web).health == .critical)
    }

    /// A clock that ran ahead was set right. What was minted meanwhile had come to one of two outputs, and is refused; the daemon
    /// reads that output before the one with the secret that it goes back to.
    @Test func applicationsMayHaveReadTheRefusedSecretOfOneOutput() throws {
        let outputs = [try Values.raw("a.jwt"), try Values.raw("b.jwt")]
        let bench = try Bench([web: try Values.client(web, outputs: outputs, actions: [after])]).started()
        let first = try #require(try bench.current(web))
        let ahead = try Values.issued(7, from: 20 * Values.day, to: 110 * Values.day, signer: first.signer)
        bench.records[try Values.name(web)]?.current = ahead
        try bench.place(ahead, in: "a.jwt")
        bench.held = [.file(try Values.path("b.jwt"))]
        try bench.restart(bench.rotation.configuration)
        #expect(bench.runs == [])
        bench.release(.file(try Values.path("b.jwt")))
        #expect(try bench.current(web) == first)
        #expect(try bench.held(in: "a.jwt") == first)
        #expect(bench.runs.count == 1)
    }

    @Test func anApplicationNeverDeliveredToHoldsNothing() throws {
        let bench = try Bench([web: try Values.client(web, actions: [after])])
        bench.failures[.action(after.id)] = Failure(.actionFailed, at: .action(after.id))
        bench.go()
        try bench.restart(bench.rotation.configuration)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).deliveredExpiresAt == nil)
    }
}
