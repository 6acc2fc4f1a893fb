import Dispatch
import Failures
import Foundation
import Synchronization
import Testing

@testable import Linux

/// One sync serves many callers, but none that came after it began.
@Suite struct BatchedSyncTests {
    /// Numbers events, to show which came first.
    private final class Course: Sendable {
        private let moment = Atomic<Int>(0)
        private let isUnderWay = Atomic<Bool>(false)
        private let begun = Mutex<[Int]>([])
        /// Callers that were served by too early a sync, and syncs that ran two at a time.
        let bad = Atomic<Int>(0)
        let failures = Atomic<Int>(0)

        func next() -> Int { moment.add(1, ordering: .sequentiallyConsistent).newValue }

        func sync() {
            if isUnderWay.exchange(true, ordering: .sequentiallyConsistent) { count(bad) }
            begun.withLock { $0 = $0.suffix(100) + [next()] }
            isUnderWay.store(false, ordering: .sequentiallyConsistent)
        }

        func call(_ batched: BatchedSync) {
            let called = next()
            try? batched { sync() }
            if !hasBegun(since: called) { count(bad) }
        }

        func count(_ number: borrowing Atomic<Int>) { number.add(1, ordering: .sequentiallyConsistent) }

        /// Whether a sync began after `called` and before now.
        private func hasBegun(since called: Int) -> Bool { begun.withLock { $0.contains { $0 > called } } }
    }

    /// A sync that runs until it may end.
    private final class Slow: Sendable {
        let mayEnd = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)

        init(_ batched: BatchedSync) throws {
            let isUnderWay = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [mayEnd, hasEnded] in
                try? batched {
                    isUnderWay.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }
            try #require(isUnderWay.wait(timeout: .now() + BatchedSyncTests.patience) == .success, "no sync began")
        }

        func end() throws {
            mayEnd.signal()
            try #require(
                hasEnded.wait(timeout: .now() + BatchedSyncTests.patience) == .success,
                "whoever carried it out still waits")
        }
    }

    /// Seconds after which a caller counts as waiting for ever.
    private static let patience = 30.0

    private func onEightThreads(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<8 {
            Thread.detachNewThread {
                body()
                done.signal()
            }
        }
        return done
    }

    private func waitForEight(_ done: DispatchSemaphore) throws {
        for number in 0..<8 {
            try #require(done.wait(timeout: .now() + Self.patience) == .success, "only \(number) of 8 went on")
        }
    }

    @Test func nobodyIsServedByASyncThatBeganBeforeTheyCame() throws {
        let batched = BatchedSync()
        let course = Course()
        let slow = try Slow(batched)
        let all = onEightThreads { course.call(batched) }
        // Time to come. A caller that comes later is served by a later sync all the same.
        usleep(100_000)
        try slow.end()
        try waitForEight(all)
        #expect(course.bad.load(ordering: .sequentiallyConsistent) == 0)
    }

    @Test func ofManyEachIsServedByOneThatBeganAfterItCame() throws {
        let batched = BatchedSync()
        let course = Course()
        let all = onEightThreads { for _ in 0..<500 { course.call(batched) } }
        try waitForEight(all)
        #expect(course.bad.load(ordering: .sequentiallyConsistent) == 0)
    }

    @Test func aFailureReachesAllWhoWaitedForItAndNobodyElse() throws {
        let batched = BatchedSync()
        let course = Course()
        let slow = try Slow(batched)
        let all = onEightThreads {
            do throws(FileError) {
                try batched { () throws(FileError) in throw FileError(.ioError, at: "/") }
            } catch {
                course.count(course.failures)
            }
        }
        usleep(100_000)
        try slow.end()
        try waitForEight(all)
        #expect(course.failures.load(ordering: .sequentiallyConsistent) == 8)
        try batched {}
    }

    @Test func itWaitsForThoseWhoWereAnnounced() throws {
        let batched = BatchedSync(patience: 600_000_000_000)
        let syncs = Atomic<Int>(0)
        let done = DispatchSemaphore(value: 0)
        func begin() -> BatchedSync.Announcement {
            let announced = batched.announce()
            Thread.detachNewThread {
                try? batched { syncs.add(1, ordering: .sequentiallyConsistent) }
                done.signal()
            }
            return announced
        }
        let announced = begin()
        usleep(100_000)
        #expect(syncs.load(ordering: .sequentiallyConsistent) == 0)
        _ = consume announced
        try #require(done.wait(timeout: .now() + 60) == .success)
        #expect(syncs.load(ordering: .sequentiallyConsistent) == 1)
    }

    @Test func itDoesNotWaitForEverForWhoDoesNotCome() {
        let batched = BatchedSync()
        let announced = batched.announce()
        let all = onEightThreads { try? batched {} }
        for _ in 0..<8 { #expect(all.wait(timeout: .now() + 60) == .success) }
        _ = consume announced
    }
}
