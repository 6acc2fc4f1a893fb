import Testing

@testable import Daemon
@testable import Rotation

@Suite struct BacklogTests {
    private func finished(_ number: UInt64, _ outcome: Outcome) -> Fact {
        .finished(JobID(number: number), .success(outcome))
    }

    @Test func whatGoesFurtherComesBeforeWhatBegins() {
        var backlog = Backlog()
        let looked = Outcome.seen(Look(slots: [:]))
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
        let facts = (1...7).map { finished($0, .recalled(Record())) }
        backlog.add(facts)
        var turns: [[Fact]] = []
        while !backlog.isEmpty { turns.append(backlog.take(atMost: 3)) }
        #expect(turns == [Array(facts[..<3]), Array(facts[3..<6]), Array(facts[6...])])
    }

    /// A few jobs never wait for one another: one of them may hang.
    @Test(arguments: [(1, 1), (32, 1), (63, 1), (64, 2), (10_000, 16)])
    func manyShortJobsShareAThread(count: Int, together: Int) {
        #expect(Hands.share(of: count) == together)
    }
}
