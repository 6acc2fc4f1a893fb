import Testing

@testable import Daemon

@Suite struct ExecutorTests {
    /// Whatever thread is done first.
    @Test(arguments: [0, 1, 5_000])
    func mapsElementsInTheirOrder(count: Int) throws {
        let executor = try Executor.idle()
        let numbers = Array(0..<count)
        let lane: (Int) -> Lane = { $0.isMultiple(of: 3) ? .state : .probes }
        let found = executor.map(numbers, in: lane) { 2 * $0 }
        #expect(found == numbers.map { 2 * $0 })
    }
}
