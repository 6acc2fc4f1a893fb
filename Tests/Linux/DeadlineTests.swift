import Linux
import Testing

struct DeadlineTests {
    @Test(arguments: [0, -1, .min] as [Int64]) func oneWithoutTimeHasPassed(milliseconds: Int64) {
        #expect(Deadline(in: milliseconds).hasPassed)
        #expect(Deadline(in: milliseconds).rest == 0)
    }

    @Test(arguments: [60_000, .max] as [Int64]) func oneWithTimeIsAheadOfTheOthers(milliseconds: Int64) {
        let deadline = Deadline(in: milliseconds)
        #expect(!deadline.hasPassed)
        #expect((1...milliseconds).contains(deadline.rest))
        #expect(Deadline(in: 30_000) < deadline)
    }
}
