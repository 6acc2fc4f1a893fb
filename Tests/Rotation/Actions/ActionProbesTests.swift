import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What would prevent an action is reported before a renewal needs it.
@Suite struct ActionProbesTests {
    private let web = "web"
    private let restart = Action.unit(verb: .restart, unit: "nosuch.service")
    private let pager = Action.unit(verb: .start, unit: "notice@%s.service")

    private var failure: Failure { Failure(.unitUnknown, at: .action(restart.id)) }

    private func configuration(_ actions: [Action], stateChangeActions: [Action] = []) throws -> Configuration {
        try Values.configuration([web: Values.client(web, actions: actions)], onStateChange: stateChangeActions)
    }

    /// A client whose application was notified by an action that has since become impossible.
    private func delivered() throws -> Bench {
        let bench = try Bench(try configuration([restart])).started()
        #expect(try bench.view(web).delivered)
        bench.failures = [.probe(restart.id): failure]
        bench.forget()
        return bench
    }

    @Test func aReloadNamesTheClientWhoseActionCannotBeCarriedOut() throws {
        let bench = try delivered()
        bench.reload(try configuration([restart]))
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(failure.message)"]))
        let view = try bench.view(web)
        #expect(view.health == .degraded)
        #expect(view.reason?.failure == failure)
        #expect(view.actions.map(\.state) == [.failed])
        // The application holds the current secret all the same.
        #expect(view.delivered)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
    }

    @Test func aStartAndASingleRunFindItToo() throws {
        let bench = try delivered()
        let once = try Bench(try configuration([restart]), once: true)
        (once.records, once.disk, once.failures) = (bench.records, bench.disk, bench.failures)
        once.go()
        #expect(once.lastStep.ended)
        #expect(try once.view(web).reason?.failure == failure)
        try bench.restart(try configuration([restart]))
        #expect(try bench.view(web).reason?.failure == failure)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
    }

    @Test func readyDoesNotWaitForIt() throws {
        let bench = try Bench(try configuration([restart]))
        bench.held = [.probe(restart.id)]
        bench.go()
        #expect(bench.entries.contains(.ready))
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aReloadWaitsForItButNotForEver() throws {
        let bench = try delivered()
        bench.held = [.probe(restart.id)]
        bench.reload(try configuration([restart]))
        #expect(bench.answer() == nil)
        bench.pass(30)
        let silent = Failure(.notResponding, at: .action(restart.id))
        #expect(bench.answer() == .reloaded(unserved: ["client \"web\": \(silent.message)"]))
    }

    @Test func onceItIsFixedTheStateIsOkWithinAMinute() throws {
        let bench = try delivered()
        bench.reload(try configuration([restart]))
        bench.pass(3600)
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.view(web).health == .ok)
        #expect(bench.entries.contains(.recovered(.probe(restart.id), failure)))
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        bench.forget()
        bench.pass(Values.day)
        #expect(bench.works == [])
    }

    /// An administrator who adds the missing rule must not wait for a quarter of an hour, and reads one line about it.
    @Test func andWhatWasNotDeliveredBecauseOfItIs() throws {
        let bench = try Bench(try configuration([restart]))
        bench.failures = [.probe(restart.id): failure, .action(restart.id): failure]
        bench.go()
        bench.pass(600)
        #expect(bench.entries.count { if case .failing = $0 { true } else { false } } == 1)
        bench.failures = [:]
        bench.pass(60)
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).delivered)
        #expect(bench.entries.count { if case .recovered = $0 { true } else { false } } == 1)
    }

    /// An action that ran and failed waits for its retry, even if its probe succeeds meanwhile.
    @Test func anActionThatFailedForAnotherReasonIsNotHurried() throws {
        let bench = try Bench(try configuration([restart]))
        bench.failures = [
            .probe(restart.id): failure, .action(restart.id): Failure(.jobFailed, at: .action(restart.id)),
        ]
        bench.go()
        bench.pass(300)
        bench.failures[.probe(restart.id)] = nil
        bench.forget()
        bench.pass(60)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
    }

    @Test func actionsForPeopleAreLookedAtForEachState() throws {
        let bench = try Bench(try configuration([], stateChangeActions: [pager])).started()
        #expect(
            bench.works.compactMap { if case .probe(let action) = $0 { action } else { nil } }.sorted { $0.id < $1.id }
                == pager.forEachState.sorted { $0.id < $1.id })
        let missing = Failure(.unitUnknown, at: .action(pager.naming(.critical).id))
        bench.failures = [.probe(pager.naming(.critical).id): missing]
        bench.reload(try configuration([], stateChangeActions: [pager]))
        #expect(bench.answer() == .reloaded(unserved: ["on_state_change: \(missing.message)"]))
        #expect(bench.rotation.snapshot(at: bench.now).reason?.failure == missing)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func anActionThatIsTheSameForEveryStateIsLookedAtAndNamedOnce() throws {
        let bench = try Bench(try configuration([], stateChangeActions: [restart]))
        let missing = Failure(.unitUnknown, at: .action(restart.id))
        bench.failures = [.probe(restart.id): missing]
        bench.go()
        #expect(bench.works.count { if case .probe = $0 { true } else { false } } == 1)
        bench.reload(try configuration([], stateChangeActions: [restart]))
        #expect(bench.answer() == .reloaded(unserved: ["on_state_change: \(missing.message)"]))
    }

    @Test func aRemovedActionHoldsUpNoClient() throws {
        let bench = try delivered()
        bench.reload(try configuration([restart]))
        bench.reload(try configuration([]), 2)
        #expect(bench.answer(2) == .reloaded(unserved: []))
        #expect(try bench.view(web).health == .ok)
        bench.forget()
        bench.pass(3600)
        #expect(bench.works == [])
    }
}
