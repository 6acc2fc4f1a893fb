import Foundation
import Linux
import SystemPackage
import TestSupport
import Testing

@testable import Systemd

/// Orders to units, answered by a systemd that the test controls; scripts in Tests/System/bed try the real one.
struct SystemdClientTests {
    private static let timeout: Int64 = 60_000

    private func outcome(
        of order: UnitOrder, _ script: FakeSystemd.Script, on unit: String = "a.service", timeout: Int64 = timeout,
        cancel: EventCounter? = nil, jobs: Int64? = nil, answers: Int64? = nil, ended: EndedStarts? = nil
    ) throws -> (systemd: FakeSystemd, result: Result<Bool, UnitError>) {
        let systemd = try FakeSystemd(script)
        do throws(UnitError) {
            var manager = try SystemdClient(
                at: script.isBus ? .bus(systemd.path) : .direct(systemd.path), timeout: timeout, ofJobs: jobs,
                ofAnswers: answers, cancel: cancel)
            let isDone = try manager.carryOut(order, on: unit, settling: 0, ended: ended)
            return (systemd, .success(isDone))
        } catch {
            return (systemd, .failure(error))
        }
    }

    /// What the client answers that asks a systemd of this script, and the orders by then.
    private func answer<Answer>(
        _ script: FakeSystemd.Script, _ ask: (inout SystemdClient) throws -> Answer
    ) throws -> (answer: Answer, orders: [String]) {
        let systemd = try FakeSystemd(script)
        var manager = try SystemdClient(
            at: script.isBus ? .bus(systemd.path) : .direct(systemd.path), timeout: Self.timeout, cancel: nil)
        return (try ask(&manager), systemd.orders)
    }

    /// The words of a result of a job that systemd has no name for; nil for any other outcome.
    private func words(_ result: Result<Bool, UnitError>) -> String? {
        if case .failure(.job(.other(let words))) = result { words } else { nil }
    }

    @Test(arguments: [
        (UnitOrder.start, "StartUnit a.service replace"), (.tryRestart, "TryRestartUnit a.service replace"),
        (.reload, "ReloadUnit a.service replace"), (.reloadOrTryRestart, "ReloadOrTryRestartUnit a.service replace"),
        (.signal(1), "KillUnit a.service main 1"),
    ])
    func eachOrderIsTheRightMethod(order: UnitOrder, call: String) throws {
        let (systemd, result) = try outcome(of: order, .init(later: [("active", 2)], part: "exited"))
        #expect(result == .success(true))
        #expect(systemd.orders == [call])
    }

    @Test func aJobMayEndBeforeItsOrderIsAnswered() throws {
        #expect(try outcome(of: .tryRestart, .init(isHasty: true)).result == .success(true))
        #expect(
            try outcome(of: .tryRestart, .init(result: "failed", isHasty: true)).result == .failure(.job(.failed)))
    }

    @Test(arguments: [
        ("failed", JobResult.failed), ("timeout", .timeout), ("canceled", .canceled), ("dependency", .dependency),
        ("assert", .other("assert")),
    ])
    func theResultOfAJobIsReported(result: String, expected: JobResult) throws {
        #expect(try outcome(of: .start, .init(result: result)).result == .failure(.job(expected)))
    }

    @Test func aSkippedJobIsOneOfAUnitThatStoppedMeanwhile() throws {
        let stopped = FakeSystemd.Script(later: [("inactive", 1)], result: "skipped")
        #expect(try outcome(of: .reload, stopped).result == .success(false))
        #expect(try outcome(of: .reload, .init(result: "skipped")).result == .failure(.job(.skipped)))
        #expect(try outcome(of: .start, .init(result: "skipped")).result == .failure(.job(.skipped)))
    }

    /// Every user of the bus may address a signal, or a reply, to the daemon.
    @Test(arguments: ["done", "skipped", "failed"]) func believesOnlySystemd(forged: String) throws {
        for (result, expected) in [
            ("done", Result<Bool, UnitError>.success(true)), ("failed", .failure(.job(.failed))),
        ] {
            for isHasty in [false, true] {
                let script = FakeSystemd.Script(result: result, isHasty: isHasty, isBus: true, forged: forged)
                #expect(try outcome(of: .tryRestart, script).result == expected)
            }
        }
    }

    @Test func isNotHeldByAFloodOfMessages() throws {
        let script = FakeSystemd.Script(result: nil, isBus: true, forged: "done", isFlooded: true)
        #expect(try outcome(of: .reload, script, timeout: 300).result == .failure(.timedOut))
    }

    @Test func confirmsTheEndOfAJobByTheUnit() throws {
        // The job is still there when its end is reported.
        let started = FakeSystemd.Script(activity: "inactive", later: [("active", 2)], part: "exited", lingering: 2)
        #expect(try outcome(of: .start, started).result == .success(true))
        #expect(try outcome(of: .start, .init(result: nil, lingering: 1), timeout: 300).result == .failure(.timedOut))
        #expect(try outcome(of: .reload, .init(reload: "exit-code")).result == .failure(.job(.failed)))
        #expect(try outcome(of: .reloadOrTryRestart, .init(reload: "timeout")).result == .failure(.job(.failed)))
        #expect(try words(outcome(of: .tryRestart, .init(later: [("active", 1)])).result) != nil)
    }

    /// `systemctl daemon-reexec`, or a restart of the bus, while a job runs.
    @Test(arguments: [false, true]) func learnsHowAJobEndedWhileSystemdWasAway(isBus: Bool) throws {
        func result(_ order: UnitOrder, _ later: (String, UInt8), reload: String = "success") throws -> Result<
            Bool, UnitError
        > {
            let script = FakeSystemd.Script(later: [later], reload: reload, isBus: isBus, isExecutedAnew: true)
            return try outcome(of: order, script).result
        }
        #expect(try result(.tryRestart, ("active", 2)) == .success(true))
        #expect(try result(.tryRestart, ("active", 1)) == .failure(.job(.canceled)))
        #expect(try result(.start, ("failed", 2)) == .failure(.job(.failed)))
        #expect(try result(.reload, ("active", 1)) == .success(true))
        #expect(try result(.reload, ("active", 1), reload: "exit-code") == .failure(.job(.failed)))
    }

    /// As a restart of the bus, which systemd leaves once more when it has come back.
    @Test(arguments: [false, true]) func waitsForAJobHoweverOftenSystemdGoesAway(isBus: Bool) throws {
        let script = FakeSystemd.Script(
            later: [("active", 2)], isBus: isBus, isExecutedAnew: true, leavesAtLoads: [1, 3])
        let (systemd, result) = try outcome(of: .tryRestart, script)
        #expect(result == .success(true))
        #expect(systemd.orders.count == 1)
    }

    /// `systemctl daemon-reexec` after the job has ended, or while the unit is seen to stay up.
    @Test func seesAUnitStayUpWhileSystemdIsAway() throws {
        func result(_ last: String, leavingAt query: Int) throws -> Result<Bool, UnitError> {
            let later: [(String, UInt8)] = [("active", 2), (last, 2)]
            return try outcome(of: .tryRestart, .init(later: later, leavesAtQuery: query)).result
        }
        #expect(try result("active", leavingAt: 1) == .success(true))
        #expect(try result("active", leavingAt: 2) == .success(true))
        #expect(try result("failed", leavingAt: 1) == .failure(.ended))
    }

    @Test func nothingIsAskedForWhatIsStopped() throws {
        for order in [UnitOrder.tryRestart, .reload, .reloadOrTryRestart, .signal(1)] {
            let (systemd, result) = try outcome(of: order, .init(activity: "inactive"))
            #expect(result == .success(false))
            #expect(systemd.orders == [])
        }
        #expect(try outcome(of: .start, .init(activity: "inactive")).systemd.orders.count == 1)
    }

    /// Of a start that is under way, the process may have read the old secret.
    @Test func aStartUnderWayIsWaitedFor() throws {
        for order in [UnitOrder.tryRestart, .reload, .reloadOrTryRestart, .start] {
            let last = order == .start ? "inactive" : "active"
            let states = [("activating", UInt8(1)), ("activating", 1), (last, 1)]
            let (systemd, result) = try outcome(
                of: order, .init(earlier: states.map { ($0.0, $0.1) }, later: [("active", 2)], part: "exited"))
            #expect(result == .success(true), "\(order)")
            #expect(systemd.orders.count == 1)
        }
        let endless = FakeSystemd.Script(activity: "activating")
        #expect(try outcome(of: .reload, endless, timeout: 300).result == .failure(.timedOut))
        // Restart= starts it by itself.
        let waiting = FakeSystemd.Script(activity: "activating", part: "auto-restart")
        #expect(try outcome(of: .reload, waiting).result == .success(false))
        #expect(try outcome(of: .reload, waiting).systemd.orders == [])
        // One that does so over and over has not come up.
        let looping = FakeSystemd.Script(activity: "activating", later: [("activating", 1)], part: "auto-restart")
        #expect(try outcome(of: .tryRestart, looping).result == .failure(.ended))
        // A signal is for the process that there is.
        #expect(try outcome(of: .signal(1), .init(activity: "activating")).systemd.orders.count == 1)
        // What ends by itself after that is noticed as after any other restart.
        let ending = FakeSystemd.Script(
            earlier: [("activating", 1), ("active", 1)], later: [("active", 2), ("inactive", 2)])
        #expect(try outcome(of: .tryRestart, ending).result == .failure(.ended))
    }

    @Test func aStartOfWhatRunsStartsNothing() throws {
        #expect(try words(outcome(of: .start, .init()).result)?.hasPrefix("it runs already") == true)
    }

    @Test(arguments: ["Condition", "Assert", "exec-condition"])
    func aUnitThatAConditionKeepsFromStartingIsNotStopped(refusal: String) throws {
        // It was stopped to be started again.
        let ended = EndedStarts()
        let restarted = FakeSystemd.Script(later: [("inactive", 1)], refusal: refusal)
        #expect(try words(outcome(of: .tryRestart, restarted, ended: ended).result) != nil)
        #expect(ended.has("01", of: "a.service"))
        // Also after the daemon's own restart.
        let down = FakeSystemd.Script(activity: "inactive", later: [("inactive", 1)], refusal: refusal)
        let (systemd, result) = try outcome(of: .tryRestart, down)
        #expect(systemd.orders == ["StartUnit a.service replace"])
        #expect(result != .success(true) && result != .success(false))
    }

    /// systemd calls the job of a unit that it skips done.
    @Test(arguments: ["Condition", "exec-condition"])
    func aStartThatAConditionSkipsIsNotDone(refusal: String) throws {
        for isForgotten in [false, true] {
            for isBus in [false, true] {
                let script = FakeSystemd.Script(
                    activity: "inactive", later: [("inactive", 1)], refusal: refusal, isBus: isBus,
                    isForgotten: isForgotten)
                let words = try words(outcome(of: .start, script).result)
                #expect(words?.hasPrefix("a condition in its unit file is not met") == true)
            }
        }
        // One that has done its work is forgotten just so.
        let done = FakeSystemd.Script(activity: "inactive", later: [("inactive", 0)], isForgotten: true)
        #expect(try outcome(of: .start, done).result == .success(true))
    }

    /// The bus is restarted between an order and its answer, or drops the answer.
    @Test(arguments: [FakeSystemd.Loss.closed, .dropped])
    func anOrderWhoseAnswerIsLostIsSeenByTheUnit(loss: FakeSystemd.Loss) throws {
        func orders(_ order: UnitOrder, _ later: [(activity: String, invocation: UInt8)]) throws -> Int {
            let script = FakeSystemd.Script(later: later, part: "exited", lost: loss)
            let (systemd, result) = try outcome(of: order, script, answers: 300)
            #expect(result == .success(true), "\(order)")
            return systemd.orders.count
        }
        let (before, after) = ((activity: "active", invocation: UInt8(1)), (activity: "active", invocation: UInt8(2)))
        // systemd has carried it out.
        #expect(try orders(.tryRestart, [after]) == 1)
        #expect(try orders(.signal(1), [after]) == 1)
        #expect(try orders(.signal(SIGTERM), [(activity: "inactive", invocation: 1)]) == 1)
        // It never came, or left no trace.
        #expect(try orders(.tryRestart, [before, after]) == 2)
        #expect(try orders(.reload, [before]) == 2)
        #expect(try orders(.signal(1), [before]) == 2)
        // It failed.
        let failed = FakeSystemd.Script(later: [("failed", 2)], lost: loss)
        #expect(try outcome(of: .tryRestart, failed, answers: 300).result == .failure(.job(.failed)))
    }

    @Test func aUnitThatNeverRanOrWasStoppedAfterwardsStaysStopped() throws {
        for refusal in ["Condition", "exec-condition"] {
            let never = FakeSystemd.Script(activity: "inactive", refusal: refusal, ran: 0)
            #expect(try outcome(of: .tryRestart, never).result == .success(false))
        }
        let oneshot = FakeSystemd.Script(activity: "inactive", type: "oneshot", refusal: "Condition")
        #expect(try outcome(of: .tryRestart, oneshot).result == .success(false))
        let stopped = FakeSystemd.Script(activity: "inactive", refusal: "Condition", tried: 1)
        #expect(try outcome(of: .tryRestart, stopped).result == .success(false))
        // Nothing here has stopped what is only reloaded.
        let down = FakeSystemd.Script(activity: "inactive", refusal: "Condition")
        #expect(try outcome(of: .reload, down).result == .success(false))
    }

    @Test func aUnitThatAFailedRestartHasStoppedIsStartedAgain() throws {
        let ended = EndedStarts()
        let socket = FakeSystemd.Script(later: [("inactive", 1)], result: "failed")
        #expect(try outcome(of: .tryRestart, socket, ended: ended).result == .failure(.job(.failed)))
        let again = FakeSystemd.Script(activity: "inactive", later: [("active", 2)])
        #expect(try outcome(of: .tryRestart, again, ended: ended).systemd.orders == ["StartUnit a.service replace"])
        // Somebody has stopped this one.
        let cancelled = EndedStarts()
        let other = FakeSystemd.Script(later: [("inactive", 1)], result: "canceled")
        #expect(try outcome(of: .tryRestart, other, ended: cancelled).result == .failure(.job(.canceled)))
        #expect(!cancelled.has("01", of: "a.service"))
    }

    @Test func aFailedUnitIsStartedOrNamed() throws {
        for order in [UnitOrder.tryRestart, .reloadOrTryRestart] {
            let (systemd, result) = try outcome(of: order, .init(activity: "failed", later: [("active", 2)]))
            #expect(result == .success(true))
            #expect(systemd.orders == ["StartUnit a.service replace"])
        }
        for order in [UnitOrder.reload, .signal(1)] {
            let (systemd, result) = try outcome(of: order, .init(activity: "failed"))
            #expect(result == .failure(.failed))
            #expect(systemd.orders == [])
        }
    }

    @Test func aStartedUnitIsSeenToStayUp() throws {
        func result(_ later: (String, UInt8)..., order: UnitOrder = .tryRestart) throws -> Result<Bool, UnitError> {
            try outcome(of: order, .init(later: later)).result
        }
        #expect(try result(("active", 2), ("failed", 2)) == .failure(.ended))
        #expect(try result(("active", 2), ("failed", 2), order: .start) == .failure(.ended))
        // Restart= restarts it over and over.
        #expect(try result(("active", 2), ("activating", 2), ("active", 3), ("active", 4)) == .failure(.ended))
        #expect(try result(("active", 2), ("activating", 2)) == .failure(.ended))
        // Somebody else restarts it once.
        #expect(try result(("active", 2), ("active", 3), ("active", 3)) == .success(true))
        #expect(try result(("active", 2), ("deactivating", 2)) == .success(true))
    }

    /// Its default action on SIGHUP ends a program.
    @Test(arguments: [UnitOrder.reload, .signal(1)])
    func aProcessThatAReloadOrSignalEndsHasNotReadTheSecret(order: UnitOrder) throws {
        func result(_ later: (String, UInt8)..., isStopped: Bool = false) throws -> Result<Bool, UnitError> {
            // A signal has no job whose end is looked at first.
            let seen = order == .reload ? later : Array(later.suffix(max(1, later.count - 1)))
            return try outcome(of: order, .init(later: seen, isStopped: isStopped)).result
        }
        #expect(try result(("active", 1)) == .success(true))
        #expect(try result(("active", 1), ("failed", 1)) == .failure(.ended))
        #expect(try result(("active", 1), ("inactive", 1)) == .failure(.ended))
        // A user stops it.
        #expect(try result(("active", 1), ("inactive", 1), isStopped: true) == .success(true))
        // Restart= starts it, and the new process reads the new secret.
        #expect(try result(("active", 1), ("activating", 1)) == .success(true))
        #expect(try result(("active", 1), ("active", 2), ("active", 2)) == .success(true))

        // It stays so until the unit runs again.
        let ended = EndedStarts()
        let down = Array([("active", UInt8(1)), ("inactive", 1)].suffix(order == .reload ? 2 : 1))
        _ = try outcome(of: order, .init(later: down.map { ($0.0, $0.1) }), ended: ended)
        #expect(try outcome(of: order, .init(activity: "inactive"), ended: ended).result == .failure(.failed))
        // Its new process has read the secret, and would end as well.
        let (systemd, result) = try outcome(of: order, .init(invocation: 2), ended: ended)
        #expect(result == .success(true) && systemd.orders == [])
        // The next secret is one more order.
        #expect(
            try outcome(of: order, .init(invocation: 2, later: [("active", 2)]), ended: ended).systemd.orders.count == 1
        )
    }

    @Test func aUnitThatEndsByItsSignalIsNoFailure() throws {
        let script = FakeSystemd.Script(later: [("inactive", 1)])
        #expect(try outcome(of: .signal(SIGTERM), script).result == .success(true))
    }

    /// A oneshot is waited for by systemd.
    @Test func theEndOfWhatIsStartedIsWaitedFor() throws {
        func result(_ later: (String, UInt8)..., part: String = "running", jobs: Int64? = nil) throws -> Result<
            Bool, UnitError
        > {
            let script = FakeSystemd.Script(activity: "inactive", later: later, part: part)
            return try outcome(of: .start, script, jobs: jobs).result
        }
        #expect(try result(("active", 2), ("active", 2), ("inactive", 2)) == .success(true))
        #expect(try result(("active", 2), ("active", 2), ("failed", 2)) == .failure(.ended))
        #expect(try result(("active", 2), part: "exited") == .success(true))
        // Restart= may start it once more.
        #expect(try result(("active", 2), ("activating", 2), ("active", 3), ("inactive", 3)) == .success(true))
        #expect(try words(result(("active", 2), jobs: 300))?.hasPrefix("it still runs") == true)
    }

    @Test func aUnitThatEndedByItselfIsNotStopped() throws {
        let ended = EndedStarts()
        let script = FakeSystemd.Script(later: [("active", 2), ("inactive", 2)])
        #expect(try outcome(of: .tryRestart, script, ended: ended).result == .failure(.ended))
        // It is started again, unless somebody else has started it since and it was stopped.
        let again = FakeSystemd.Script(activity: "inactive", invocation: 2, later: [("active", 3)])
        #expect(try outcome(of: .tryRestart, again, ended: ended).systemd.orders == ["StartUnit a.service replace"])
        // systemd has unloaded the unit meanwhile.
        let unloaded = FakeSystemd.Script(later: [("active", 2), ("inactive", 0)])
        #expect(try outcome(of: .tryRestart, unloaded, ended: ended).result == .failure(.ended))
        let forgotten = FakeSystemd.Script(
            activity: "inactive", invocation: 0, later: [("active", 3), ("inactive", 3)])
        #expect(
            try outcome(of: .tryRestart, forgotten, ended: ended).systemd.orders == ["StartUnit a.service replace"])
        let other = FakeSystemd.Script(activity: "inactive", invocation: 4)
        #expect(try outcome(of: .tryRestart, other, ended: ended).result == .success(false))
    }

    @Test func aUnitThatAUserStopsOrThatHasDoneItsWorkMayEnd() throws {
        let ended = EndedStarts()
        let stopped = FakeSystemd.Script(later: [("active", 2), ("inactive", 2)], isStopped: true)
        #expect(try outcome(of: .tryRestart, stopped, ended: ended).result == .success(true))
        let oneshot = FakeSystemd.Script(later: [("inactive", 2)], type: "oneshot")
        #expect(try outcome(of: .tryRestart, oneshot, ended: ended).result == .success(true))
        let started = FakeSystemd.Script(later: [("inactive", 2)])
        #expect(try outcome(of: .start, started, ended: ended).result == .success(true))
        #expect(!ended.has("02", of: "a.service"))
    }

    @Test func aUnitOnItsWayIsNotStopped() throws {
        for activity in ["deactivating", "reloading"] {
            #expect(try outcome(of: .tryRestart, .init(activity: activity)).systemd.orders.count == 1)
        }
    }

    @Test func aMissingOrMaskedUnitIsNotOrdered() throws {
        #expect(
            try outcome(of: .tryRestart, .init(load: "not-found", activity: "inactive")).result
                == .failure(.noSuchUnit))
        #expect(try outcome(of: .start, .init(load: "masked", activity: "inactive")).result == .failure(.masked))
        // A masked unit goes on running, and can be sent a signal.
        #expect(try outcome(of: .tryRestart, .init(load: "masked")).result == .failure(.masked))
        #expect(try outcome(of: .signal(1), .init(load: "masked")).result == .success(true))
        // Its next start would fail: nothing reads the secret.
        for load in ["bad-setting", "error"] {
            #expect(
                try outcome(of: .tryRestart, .init(load: load, activity: "inactive")).result == .failure(.broken(load)))
            #expect(try outcome(of: .start, .init(load: load, activity: "inactive")).result == .failure(.broken(load)))
        }
    }

    /// An order's answer, and what it is about.
    struct Refusal: Sendable {
        let name: String
        var words = "in its words"
        var isOfBus = false
        var polkit = FakeSystemd.Polkit.running
        /// The unit's LoadState by then.
        var load = "loaded"
        let reason: UnitError
        /// Nil: `check` has no such order carried out, and has nothing to say.
        let reported: UnitError?
    }

    private static let refusals = [
        // About the unit, and units that it needs.
        Refusal(name: "org.freedesktop.systemd1.NoSuchUnit", load: "not-found", reason: .noSuchUnit, reported: nil),
        Refusal(name: "org.freedesktop.systemd1.UnitMasked", load: "masked", reason: .masked, reported: nil),
        Refusal(
            name: "org.freedesktop.systemd1.UnitMasked", words: "Unit b.service is masked.",
            reason: .needed("Unit b.service is masked."), reported: nil),
        Refusal(
            name: "org.freedesktop.systemd1.NoSuchUnit", words: "Unit b.service not found.",
            reason: .needed("Unit b.service not found."), reported: nil),
        Refusal(
            name: "org.freedesktop.systemd1.OnlyByDependency", reason: .refused("in its words"), reported: nil),
        Refusal(
            name: "org.freedesktop.systemd1.TransactionIsDestructive", reason: .refused("in its words"), reported: nil),
        Refusal(name: "org.freedesktop.DBus.Error.InvalidArgs", reason: .refused("in its words"), reported: nil),
        // polkit has answered.
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied", reason: .notPermitted, reported: .notPermitted),
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied", polkit: .idle, reason: .notPermitted,
            reported: .notPermitted),
        Refusal(
            name: "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", reason: .notPermitted,
            reported: .notPermitted),
        // It has not.
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied", polkit: .notInstalled, reason: .polkitMissing,
            reported: .polkitMissing),
        Refusal(
            name: "org.freedesktop.systemd1.UnitMasked", words: "Unit polkit.service is masked.",
            polkit: .failing("Unit polkit.service is masked."),
            reason: .polkitFailed("Unit polkit.service is masked."),
            reported: .polkitFailed("Unit polkit.service is masked.")),
        Refusal(
            name: "org.freedesktop.systemd1.NoSuchUnit", polkit: .failing("Unit polkit.service not found."),
            reason: .polkitFailed("Unit polkit.service not found."),
            reported: .polkitFailed("Unit polkit.service not found.")),
        Refusal(
            name: "org.freedesktop.systemd1.BadUnitSetting", polkit: .failing("a bad setting"),
            reason: .polkitFailed("a bad setting"), reported: .polkitFailed("a bad setting")),
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied", polkit: .failing("startup job failed"),
            reason: .polkitFailed("startup job failed"), reported: .polkitFailed("startup job failed")),
    ]

    /// Errors that systemd hands on from the bus or from polkit.
    private static let handedOn = [
        "org.freedesktop.DBus.Error.TimedOut", "org.freedesktop.DBus.Error.Timeout",
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.Disconnected",
        "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.PolicyKit1.Error.Failed",
    ].map {
        Refusal(name: $0, reason: .polkitFailed("in its words"), reported: .polkitFailed("in its words"))
    }

    /// What the bus says itself is about the way to systemd.
    private static let ofBus =
        [
            "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.LimitsExceeded",
        ].map {
            Refusal(
                name: $0, isOfBus: true, reason: .unreachable(.socketNotConnected),
                reported: .unreachable(.socketNotConnected))
        } + [
            Refusal(
                name: "org.freedesktop.DBus.Error.AccessDenied", isOfBus: true,
                reason: .unreachable(.permissionDenied), reported: .unreachable(.permissionDenied))
        ]

    @Test(arguments: refusals + handedOn + ofBus) func aRefusalIsOfWhatHasFailed(_ refusal: Refusal) throws {
        let script = FakeSystemd.Script(
            error: (refusal.name, refusal.words), isErrorOfBus: refusal.isOfBus, polkit: refusal.polkit,
            laterLoad: refusal.load, isBus: true)
        #expect(try outcome(of: .start, script).result == .failure(refusal.reason))
        let found = try answer(script) { try $0.problem(with: .start, on: "a.service") }.answer
        #expect(found == refusal.reported)
    }

    /// systemd asks polkit nothing for root, also where root comes over the bus.
    @Test func aRefusalToRootIsNotPolkits() throws {
        let words = "Unit b.service is masked."
        let script = FakeSystemd.Script(
            error: ("org.freedesktop.systemd1.UnitMasked", words), polkit: .failing("it is broken"), isBus: true)
        let systemd = try FakeSystemd(script)
        var manager = try SystemdClient(at: .bus(systemd.path), timeout: Self.timeout, isRoot: true, cancel: nil)
        #expect(throws: UnitError.needed(words)) { try manager.carryOut(.start, on: "a.service") }
    }

    @Test func polkitIsNotRespondingIfSystemdAnswersOtherCalls() throws {
        let systemd = try FakeSystemd(.init(isSilent: true, isBus: true))
        var manager = try SystemdClient(at: .bus(systemd.path), timeout: 300, cancel: nil)
        #expect(try manager.problem(with: .start, on: "a.service") == .polkitFailed("no answer"))
        // Not waited for again.
        #expect(try manager.problem(with: .reload, on: "a.service") == .polkitFailed("no answer"))
        #expect(systemd.orders == ["StartUnit a.service triggering"])
    }

    /// The stand-in calls its unit a.service whatever it is asked for.
    @Test func aUnitIsOrderedByItsOwnNameAndKnownByIt() throws {
        let ended = EndedStarts()
        func order(_ name: String, _ script: FakeSystemd.Script) throws -> (FakeSystemd, Result<Bool, UnitError>) {
            try outcome(of: .tryRestart, script, on: name, ended: ended)
        }
        let first = try order("alias.service", .init(later: [("active", 2), ("inactive", 2)]))
        #expect(first.0.orders == ["TryRestartUnit a.service replace"])
        #expect(first.1 == .failure(.ended))
        let again = try order("a.service", .init(activity: "inactive", invocation: 2, later: [("active", 3)]))
        #expect(again.0.orders == ["StartUnit a.service replace"])
    }

    @Test func noAnswerIsWaitedForLongerThanAsked() throws {
        #expect(try outcome(of: .start, .init(result: nil), timeout: 200).result == .failure(.timedOut))
        #expect(try outcome(of: .start, .init(isSilent: true), timeout: 200).result == .failure(.timedOut))
    }

    /// Any user can make the bus drop what systemd sends.
    @Test func whatTheBusDropsIsAskedForAgain() throws {
        #expect(try outcome(of: .tryRestart, .init(isUnreported: true)).result == .success(true))
        let script = FakeSystemd.Script(later: [("active", 2)], ignoredQuery: 1)
        #expect(try outcome(of: .tryRestart, script, answers: 200).result == .success(true))
    }

    @Test func aWaitEndsWhenItIsCancelled() throws {
        let cancel = try EventCounter()
        let systemd = try FakeSystemd(.init(result: nil))
        Thread.detachNewThread {
            systemd.waitForOrder()
            cancel.signal()
        }
        var manager = try SystemdClient(at: .direct(systemd.path), timeout: Self.timeout, cancel: cancel)
        #expect(throws: UnitError.cancelled) { try manager.carryOut(.start, on: "a.service") }
    }

    @Test func aSystemdThatGoesAwayIsUnreachable() throws {
        let (_, result) = try outcome(of: .start, .init(hangsUp: true), timeout: 1_000)
        guard case .failure(.unreachable) = result else {
            Issue.record("\(result)")
            return
        }
        let directory = try TemporaryDirectory()
        #expect(throws: UnitError.unreachable(.noSuchFileOrDirectory)) {
            _ = try SystemdClient(at: .direct(directory("none")), timeout: Self.timeout, cancel: nil)
        }
    }

    @Test func permissionIsAskedForWithoutAJob() throws {
        func problem(_ script: FakeSystemd.Script) throws -> (UnitError?, [String]) {
            let (found, orders) = try answer(script) { try $0.problem(with: .tryRestart, on: "a.service") }
            return (found, orders)
        }
        let denied = "org.freedesktop.DBus.Error.AccessDenied"
        // A failed unit would be started.
        let asked = ["TryRestartUnit a.service triggering", "StartUnit a.service triggering"]
        #expect(try problem(.init(error: (denied, ""))) == (.notPermitted, [asked[0]]))
        let onlyToStop = ("org.freedesktop.DBus.Error.InvalidArgs", "--job-mode=triggering is only valid for stop.")
        #expect(try problem(.init(error: onlyToStop)) == (nil, asked))
        #expect(try problem(.init(load: "not-found")) == (.noSuchUnit, []))
        #expect(try problem(.init(load: "masked")) == (.masked, []))
        #expect(try problem(.init(load: "bad-setting", activity: "inactive")) == (.broken("bad-setting"), []))
        // Stopped for maintenance, it stays stopped.
        #expect(try problem(.init(load: "masked", activity: "inactive")) == (nil, []))
    }

    /// A thousand orders take longer than one that gets no answer.
    @Test func eachOrderIsJudgedForAsLongAsAsked() throws {
        let systemd = try FakeSystemd(.init(load: "masked", activity: "inactive"))
        var manager = try SystemdClient(at: .direct(systemd.path), timeout: 500, cancel: nil)
        usleep(600_000)
        #expect(try manager.problem(with: .tryRestart, on: "a.service") == nil)
    }

    @Test(arguments: [
        (UnitOrder.tryRestart, "masked", "inactive", true), (.reload, "masked", "inactive", true),
        (.signal(1), "masked", "inactive", true), (.tryRestart, "masked", "active", false),
        (.tryRestart, "loaded", "inactive", false), (.start, "masked", "inactive", false),
    ])
    func anOrderWithoutEffectIsKnown(order: UnitOrder, load: String, activity: String, isWithout: Bool) throws {
        let script = FakeSystemd.Script(load: load, activity: activity)
        let found = try answer(script) { try $0.isWithoutEffect(order, on: "a.service") }.answer
        #expect(found == isWithout)
    }

    private static let orders: [(UnitOrder, against: Set<String>, property: String?)] = [
        (.reload, ["CanReload"], "CanReload=no"), (.reload, ["RefuseManualStop"], nil),
        (.reloadOrTryRestart, ["RefuseManualStop"], nil), (.reloadOrTryRestart, ["CanReload"], nil),
        (.reloadOrTryRestart, ["CanReload", "RefuseManualStop"], "RefuseManualStop=yes"),
        (.tryRestart, ["RefuseManualStop"], "RefuseManualStop=yes"), (.tryRestart, ["CanReload"], nil),
        (.tryRestart, ["RefuseManualStart"], "RefuseManualStart=yes"),
        (.start, ["RefuseManualStart"], "RefuseManualStart=yes"), (.start, ["RefuseManualStop"], nil),
    ]

    @Test(arguments: orders)
    func anOrderThatTheUnitNeverTakesIsKnown(order: UnitOrder, against: Set<String>, property: String?) throws {
        let script = FakeSystemd.Script(
            refusals: against, canReload: !against.contains("CanReload"), error: ("a.InvalidArgs", ""))
        let found = try answer(script) { try $0.problem(with: order, on: "a.service") }.answer
        #expect(found == property.map { .impossible($0) })
    }

    @Test func aRuleNamesTheUserTheVerbsAndTheUnit() {
        let start =
            #"polkit.addRule(function(action, subject) { "#
            + #"if (action.id == "org.freedesktop.systemd1.manage-units" && subject.user == "clientsecretd" && "#
            + #"action.lookup("unit") == "srv-app\\x2d1.service" && "#
        let unit = #"srv-app\x2d1.service"#
        #expect(
            PolkitRule.text(user: "clientsecretd", unit: unit, verbs: UnitOrder.tryRestart.verbs)
                == start + #"(action.lookup("verb") == "try-restart" || action.lookup("verb") == "start")) "#
                + #"return polkit.Result.YES; });"#)
        #expect(
            PolkitRule.text(user: "clientsecretd", unit: unit, verbs: UnitOrder.reload.verbs)
                == start + #"action.lookup("verb") == "reload") return polkit.Result.YES; });"#)
        #expect(UnitOrder.reloadOrTryRestart.verbs == ["reload-or-try-restart", "start"])
    }
}
