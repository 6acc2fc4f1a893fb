// The simulator's program, which is built without the testing library, shares this module.
#if canImport(Testing)

    import Foundation
    package import Testing

    /// Runs tests that wait for other programs most of the time on threads beside Swift's own.
    ///
    /// Swift has as many threads for tasks as the machine has processors, and a test that waits keeps one of them: on
    /// two processors two daemons at a time would be waited for, with both processors idle.
    package struct WaitingTrait: TestTrait, SuiteTrait, TestScoping {
        package let isRecursive = true

        @concurrent package func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
        }
    }

    extension Trait where Self == WaitingTrait {
        /// For tests that wait most of the time, as those do that run the program.
        package static var waits: Self { Self() }
    }

    /// Threads that run what is given to them in its order.
    private final class WaitingThreads: TaskExecutor {
        static let shared = WaitingThreads(count: 3 * ProcessInfo.processInfo.activeProcessorCount)

        private let jobs = Jobs()

        private init(count: Int) {
            for _ in 0..<count {
                Thread.detachNewThread { [self] in
                    while true { unsafe jobs.next().runSynchronously(on: asUnownedTaskExecutor()) }
                }
            }
        }

        func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }
    }

    /// A queue whose readers wait until there is something in it; `condition` guards it.
    private final class Jobs: @unchecked Sendable {
        private let condition = NSCondition()
        private var waiting: [UnownedJob] = []

        func append(_ job: UnownedJob) {
            condition.withLock { waiting.append(job) }
            condition.signal()
        }

        func next() -> UnownedJob {
            condition.withLock {
                while waiting.isEmpty { condition.wait() }
                return waiting.removeFirst()
            }
        }
    }

#endif
