import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// How soon a failed job is retried.
@Suite struct RetryPauseTests {
    private let hook = Values.exec("/bin/after")
    private let unit = Action.unit(verb: .restart, unit: "myapp.service")

    private func pauses(
        _ resource: Resource, _ action: Action? = nil, _ failure: Failure.Code = .jobFailed, jitter: Double = 0,
        count: Int = 20
    ) -> [Int64] {
        (1...count).map {
            RetryPause.pause(
                of: resource, after: Failure(failure, at: .clock),
                RetryPause.Circumstances(failures: $0, action: action, jitter: jitter))
        }
    }

    @Test func localWorkIsTriedAtLeastOnceAMinute() throws {
        let local: [Resource] = [
            .key(try Values.key()), .client(try Values.name("web")), .record(try Values.name("web")),
            .file(try Values.path("a")),
        ]
        for resource in local {
            #expect(
                pauses(resource, count: 9) == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000],
                "\(resource)")
            #expect(pauses(resource, count: 10_000).max() == 60_000, "\(resource)")
        }
        #expect((1...8).map { RetryPause.localPause(failures: $0) } == [1, 2, 4, 8, 16, 32, 60, 60])
    }

    /// A login costs the member of etcd a tenth of a second, whoever is refused.
    @Test func aRefusedPasswordIsTriedOnceAnHourInTheEnd() {
        #expect(pauses(.store, nil, .storeCredentialsRefused, count: 10_000).max() == 3_600_000)
        #expect(pauses(.store, nil, .storeCredentialsRefused, count: 13).prefix(3) == [1000, 2000, 4000])
        #expect(pauses(.store, nil, .storeServiceMissing, count: 10_000).max() == 60_000)
    }

    @Test func aHookIsTriedAtLeastEveryQuarterOfAnHour() {
        #expect(
            pauses(.action(hook.id), hook, count: 8)
                == [30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000])
        #expect(pauses(.action(hook.id), hook, count: 10_000).max() == 900_000)
    }

    @Test func aUnitWhoseJobFailedThreeTimesIsTriedHourly() {
        for action in [unit, Action.signal(unit: "myapp.service", signal: "SIGHUP")] {
            #expect(
                pauses(.action(action.id), action, count: 5) == [30_000, 60_000, 3_600_000, 3_600_000, 3_600_000])
        }
    }

    /// An administrator who adds the missing rule must not wait for an hour.
    @Test func aUnitWhoseJobWasNotEvenBegunIsTriedLikeAHook() {
        for failure in [
            Failure.Code.unitNotPermitted, .polkitMissing, .polkitFailed, .unitUnknown, .unitMasked, .busUnreachable,
        ] {
            #expect(pauses(.action(unit.id), unit, failure, count: 10_000).max() == 900_000, "\(failure)")
        }
    }

    /// In seconds.
    private func longestInEmergency(
        _ resource: Resource, _ code: Failure.Code, _ action: Action? = nil, retryAfter: Seconds? = nil,
        failures: Int = 9
    ) -> Int64? {
        RetryPause.longestInEmergency(
            of: resource, after: Failure(code, at: .clock, retryAfter: retryAfter), action, failures: failures
        )?.count
    }

    @Test func inAnEmergencyOnlyAFailureThatNeedsAPersonWaitsForLongerThanAMinute() {
        #expect(longestInEmergency(.action(hook.id), .actionFailed, hook) == 60)
        #expect(longestInEmergency(.action(unit.id), .unitNotPermitted, unit) == 60)
        #expect(longestInEmergency(.action(unit.id), .jobFailed, unit, failures: 2) == 60)
        #expect(longestInEmergency(.action(unit.id), .jobFailed, unit, failures: 3) == nil)
    }

    /// What an API asks for counts as long as it says, but for a read, and while the secret that is in use runs out.
    @Test func aPauseThatAnAPIAsksForIsKept() throws {
        let target = Resource.target(try #require(TargetName("production")))
        func pause(_ rest: Seconds, isAtOnce: Bool = false, isRead: Bool = false) -> Int64 {
            RetryPause.pause(
                of: target, after: Failure(.pushRateLimited, at: .clock, retryAfter: rest),
                RetryPause.Circumstances(failures: 1, isAtOnce: isAtOnce, isReadOfTarget: isRead))
        }
        #expect(pauses(target, nil, .pushServerFailed, count: 10_000).max() == 900_000)
        #expect(pause(1) == 5000)
        #expect(pause(1, isAtOnce: true) == 1000)
        #expect(pause(86_400) == 86_400_000)
        #expect(pause(86_400, isRead: true) == 3_600_000)
        #expect(longestInEmergency(target, .pushRateLimited, retryAfter: 86_400) == 3_600)
        #expect(longestInEmergency(target, .pushServerFailed) == nil)
    }

    /// The store's service is another user's, and never asks for more than an hour itself.
    @Test func aPauseThatTheStoresServiceAsksForIsBounded() throws {
        let resources = [Resource.store, .report, .fleet, .share(try Values.name("web"))]
        for resource in resources {
            func pause(_ rest: Seconds) -> Int64 {
                RetryPause.pause(
                    of: resource, after: Failure(.storeUnreachable, at: .store, retryAfter: rest),
                    RetryPause.Circumstances(failures: 1))
            }
            #expect(pause(200) == 200_000)
            #expect(pause(86_400) == 3_600_000)
        }
    }

    @Test func jitterTakesUpToAFifthOffAndAddsNothing() {
        for (resource, action) in [
            (Resource.action(hook.id), hook as Action?), (.action(unit.id), unit), (.configuration, nil),
        ] {
            for (none, full) in zip(pauses(resource, action), pauses(resource, action, jitter: 1)) {
                #expect(full == none * 4 / 5)
            }
        }
    }

    @Test func oneClientsFailureNeverDelaysAnothers() throws {
        let bench = try Bench([
            "web": Values.client("web"), "native": Values.client("native", lifetime: 7200, renewBefore: 3600),
        ])
        try bench.failWrites(of: "web.jwt")
        bench.failures = [.record(try Values.name("web")): try Values.failure(.stateUnusable, "web.jwt")]
        bench.go()
        #expect(try bench.view("native").health == .ok)
        bench.pass(3600)
        #expect(try bench.view("native").renewals == 2)
    }

    @Test func aMintThatFailedAndIsNotWantedAnyMoreIsNoFailure() throws {
        let bench = try Bench(["web": Values.client("web")]).started()
        let client = Resource.client(try Values.name("web"))
        bench.failures = [client: Failure(.signingFailed, at: .key(try Values.key()))]
        bench.pass(60 * Values.day + 5)
        #expect(try bench.view("web").health == .degraded)
        // The clock by which it was due was wrong.
        bench.step(-30 * Values.day)
        #expect(try bench.view("web").health == .ok)
        #expect(try bench.view("web").lastError == nil)
        #expect(bench.entries.contains(.recovered(client, Failure(.signingFailed, at: .key(try Values.key())))))
    }
}
