import AppleClientSecret
import Dispatch
import Linux
import TestSupport
import Testing

@testable import Daemon
@testable import Model
@testable import Rotation

/// The order in which waiting jobs are carried out.
@Suite struct ExecutorTests {
    private let web: ClientName
    private let executor: Executor

    init() throws {
        web = try #require(ClientName("web"))
        executor = try .idle()
    }

    private func job(_ number: UInt64, _ resource: Resource, _ work: Work) -> Job {
        Job(id: JobID(number: number), resource: resource, work: work, startedAt: BootTime(milliseconds: 0))
    }

    /// Keeping a secret goes before recalling others, and publishing it before reading other files back: else, with
    /// many clients, the first would be served only after the last was recalled and read.
    @Test func writesGoBeforeReads() throws {
        let directory = try TemporaryDirectory()
        let path = try #require(AbsolutePath(directory("web.jwt")))
        let spec = FileSpec(path: path, format: .raw, mode: nil, group: nil, owner: nil, slots: [.whole: web])
        try expectOrder(
            in: .state, observe: .recall(web, publishedAt: []), write: .keep(web, Record()), on: .record(web))
        try expectOrder(
            in: executor.lane(of: path), observe: .observe(spec), write: .publish(spec, [:], mayCreate: true),
            on: .file(path))
    }

    /// A few jobs never share a thread, because one of them may hang.
    @Test(arguments: [(1, 1), (32, 1), (63, 1), (64, 2), (10_000, 16)])
    func manyShortJobsShareAThread(count: Int, together: Int) {
        #expect(Executor.share(of: count) == together)
    }

    /// Whatever thread is done first.
    @Test(arguments: [0, 1, 5_000])
    func resultsOfThreadsComeInOrder(count: Int) {
        let numbers = Array(0..<count)
        let lane: (Int) -> Lane = { $0.isMultiple(of: 3) ? .state : .probes }
        let found = executor.map(numbers, in: lane) { 2 * $0 }
        #expect(found == numbers.map { 2 * $0 })
    }

    private func expectOrder(in lane: Lane, observe: Work, write: Work, on resource: Resource) throws {
        let done = try Inbox<JobID>()
        let begun = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        // As many jobs as a lane has threads at most.
        for _ in 0..<8 {
            try executor.pool.run(in: lane) {
                begun.signal()
                release.wait()
            }
        }
        for _ in 0..<8 { begun.wait() }
        let report: @Sendable (Input) -> Void = { input in
            if case .finished(let id, _) = input { done.post(id) }
        }
        executor.start([job(1, resource, observe)], report: report)
        executor.start([job(2, resource, observe)], report: report)
        executor.start([job(3, resource, write)], report: report)
        // One thread goes on, and carries out the jobs one after the other.
        release.signal()
        var order: [UInt64] = []
        while order.count < 3, done.wait(atMost: 60_000) { order += done.drain().map(\.number) }
        #expect(order == [3, 1, 2], "\(lane)")
        for _ in 0..<7 { release.signal() }
    }
}
