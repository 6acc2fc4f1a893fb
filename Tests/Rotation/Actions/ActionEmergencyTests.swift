import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// How soon an application is notified again when its secret is critical or has expired. A client's secret lives for
/// nine hours, is replaced three hours before its end and is critical for the last one.
@Suite struct ActionEmergencyTests {
    private let hook = Values.exec("/bin/after")
    private let unit = Action.unit(verb: .restart, unit: "myapp.service")
    private let web = "web"
    private let renewal = 6 * hour
    private let critical = 8 * hour
    private let expiry = 9 * hour

    private static let hour: Int64 = 3600

    private func client(_ name: String, _ action: Action) throws -> ClientConfiguration {
        try Values.client(name, lifetime: expiry, renewBefore: expiry - renewal, actions: [action])
    }

    /// A client whose application was notified of its first secret, and whose action fails from then on.
    private func bench(_ action: Action, _ failure: Failure.Code) throws -> Bench {
        let bench = try Bench([web: client(web, action)]).started()
        bench.failures = [.action(action.id): Failure(failure, at: .action(action.id))]
        return bench
    }

    /// How often an action is run from one moment after the start to another.
    private func runs(_ bench: Bench, from start: Int64, to end: Int64) -> Int {
        bench.sleep(Values.start + start - bench.now.wall.secondsSinceEpoch)
        bench.forget()
        pass(bench, to: end)
        return bench.log.filter { $0.hasPrefix("run") }.count
    }

    private func pass(_ bench: Bench, to moment: Int64) {
        bench.pass(Values.start + moment - bench.now.wall.secondsSinceEpoch)
    }

    @Test func theNextAttemptThatIsShownIsTheOneThatIsMade() throws {
        let bench = try bench(hook, .actionFailed)
        pass(bench, to: critical - 1)
        let before = try #require(bench.view(web).reason?.nextAttempt)
        #expect(try bench.view(web).health == .degraded)
        pass(bench, to: critical)
        let after = try #require(bench.view(web).reason?.nextAttempt)
        #expect(try bench.view(web).health == .critical)
        #expect(after == min(before, Values.moment(critical + 60)))
        #expect(bench.secondsToWake == (after - Values.moment(critical)).count)
    }

    @Test func theLogNamesTheNextAttemptInAnEmergency() throws {
        let bench = try bench(hook, .actionFailed)
        pass(bench, to: critical + 3600)
        bench.forget()
        bench.failures = [.action(hook.id): Failure(.actionTimedOut, at: .action(hook.id))]
        bench.pass(60)
        let moments = bench.entries.compactMap { if case .failing(_, _, _, let retryAt) = $0 { retryAt } else { nil } }
        #expect(moments.count == 1)
        #expect(try #require(moments.first) <= bench.now.wall + 60)
    }

    /// An application that was never notified can still start, and then reads what is published.
    @Test func anActionThatNeverRanIsNoEmergency() throws {
        let bench = try Bench([web: client(web, hook)])
        bench.failures = [.action(hook.id): Failure(.actionFailed, at: .action(hook.id))]
        bench.go()
        #expect((4...5).contains(runs(bench, from: critical + 3600, to: critical + 7200)))
    }

    @Test func aClientThatWasDeliveredMakesNoEmergencyOfAnothers() throws {
        let bench = try Bench([web: Values.client(web, actions: [hook]), "other": client("other", hook)]).started()
        // From now on no secret can be minted for the other client: the one that was delivered runs out.
        bench.failures = [
            .client(try Values.name("other")): Failure(.signingFailed, at: .key(try Values.key())),
            .action(hook.id): Failure(.actionFailed, at: .action(hook.id)),
        ]
        pass(bench, to: critical)
        #expect(try bench.view("other").health == .critical)
        try bench.renew(web)
        #expect((4...5).contains(runs(bench, from: critical + 3600, to: critical + 7200)))
    }
}
