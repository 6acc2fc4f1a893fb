import AppleClientSecret
import Failures
import Glibc
import Linux
import Testing

@testable import Daemon
@testable import Rotation

/// What the loop does while more inputs wait than it takes in one step. Each test is a process of its own, whose
/// signals are blocked as a daemon's are; the kernel's alarm ends a loop that would wait for ever.
@Suite struct LoopTests {
    @Test func aSignalIsSeenToWhileThousandsOfInputsWait() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let field = try LoopField()
            field.post(10_000)
            // To this thread: the test runner's others do not block it.
            pthread_kill(pthread_self(), SIGTERM)
            #expect(try field.absorbed() < 2_000)
        }
    }

    @Test func whatWaitsIsAbsorbedWithoutAnythingElseHappening() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let field = try LoopField()
            field.post(10_000)
            field.inbox.post(.stop)
            #expect(try field.absorbed() == 10_000)
        }
    }
}

/// A loop whose only work is to take inputs.
private struct LoopField {
    let inbox: Inbox<Input>
    private let loop: Loop
    private let startedAt = Clock.now()

    init() throws {
        try SignalDescriptor.blockSignals()
        inbox = try Inbox()
        let executor = try Executor.idle()
        let rotation = Rotation(
            seed: 1, hostJitter: 0, builtAt: startedAt.wall, startedAt: startedAt.wall,
            configurationPath: executor.settings.path)
        loop = try Loop(
            rotation: rotation, inbox: inbox, callers: Callers(), executor: executor, log: executor.log, server: nil,
            credentials: nil, watcher: nil, findings: try Inbox(), metrics: nil, cancel: try EventCounter())
    }

    /// Posts so many inputs; each holds its own number, as the hours until the next attempt.
    func post(_ count: Int64) {
        for number in 1...count {
            let lack = Failure(.socketUnusable, at: .named("the status socket"))
            inbox.post(.faultRaised(lack, nextAttempt: startedAt.boot + Seconds(number * Self.hour)))
        }
    }

    /// Runs the loop to its end; returns how many of those inputs it has taken.
    func absorbed() throws -> Int64 {
        let end = try loop.run()
        let next = try #require(end.reason?.nextAttempt)
        return ((next - startedAt.wall).count + Self.hour / 2) / Self.hour
    }

    private static let hour: Int64 = 3600
}

@Suite struct BacklogTests {
    private func finished(_ number: UInt64, _ outcome: Outcome) -> Input {
        .finished(JobID(number: number), .success(outcome))
    }

    @Test func whatGoesFurtherComesBeforeWhatBegins() {
        var backlog = Backlog()
        let looked = Outcome.observed(FileObservation(slots: [:]))
        backlog.add([finished(1, .recalled(Record())), finished(2, looked), finished(3, .kept(Record()))])
        backlog.add([finished(4, .recalled(Record())), finished(5, looked), .stop])
        #expect(
            backlog.take() == [
                finished(3, .kept(Record())), .stop, finished(2, looked), finished(5, looked),
                finished(1, .recalled(Record())), finished(4, .recalled(Record())),
            ])
        #expect(backlog.isEmpty)
    }

    @Test func aStepTakesSoManyAndLeavesTheOthers() {
        var backlog = Backlog()
        let inputs = (1...7).map { finished($0, .recalled(Record())) }
        backlog.add(inputs)
        var steps: [[Input]] = []
        while !backlog.isEmpty { steps.append(backlog.take(atMost: 3)) }
        #expect(steps == [Array(inputs[..<3]), Array(inputs[3..<6]), Array(inputs[6...])])
    }
}
