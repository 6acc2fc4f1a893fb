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
            try await withTaskExecutorPreference(WaitingThreads.shared) {
                let began = ContinuousClock.now
                defer { TestSeconds.shared?.record(test.id, (ContinuousClock.now - began) / .seconds(1)) }
                try await function()
            }
        }
    }

    /// How long tests have taken, for `scripts/run-tests`: the library's own events also count the wait for a thread.
    private final class TestSeconds: Sendable {
        /// Writes to the file that `CLIENTSECRETD_SECONDS` names; nil without one.
        static let shared = ProcessInfo.processInfo.environment["CLIENTSECRETD_SECONDS"].flatMap(TestSeconds.init)

        private let file: FileHandle

        private init?(path: String) {
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return nil }
            file = FileHandle(fileDescriptor: descriptor)
        }

        /// Appends a line: the test, and its seconds.
        func record(_ test: Test.ID, _ seconds: Double) {
            file.write(Data("\(test)\t\(seconds)\n".utf8))
        }
    }

    extension Trait where Self == WaitingTrait {
        /// For tests that wait most of the time, as those do that run the program.
        package static var waits: Self { Self() }
    }

    /// Threads that run what is given to them in its order.
    private final class WaitingThreads: TaskExecutor {
        static let shared = WaitingThreads(count: 4 * ProcessInfo.processInfo.activeProcessorCount)

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
