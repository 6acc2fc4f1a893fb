import Testing

@testable import Daemon
@testable import Rotation

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

    @Test func aTurnTakesSoManyAndLeavesTheOthers() {
        var backlog = Backlog()
        let inputs = (1...7).map { finished($0, .recalled(Record())) }
        backlog.add(inputs)
        var steps: [[Input]] = []
        while !backlog.isEmpty { steps.append(backlog.take(atMost: 3)) }
        #expect(steps == [Array(inputs[..<3]), Array(inputs[3..<6]), Array(inputs[6...])])
    }

    /// A few jobs never share a thread, because one of them may hang.
    @Test(arguments: [(1, 1), (32, 1), (63, 1), (64, 2), (10_000, 16)])
    func manyShortJobsShareAThread(count: Int, together: Int) {
        #expect(Executor.share(of: count) == together)
    }
}
