/// Runs blocking jobs on threads, in lanes: a stuck lane delays no other one.
///
/// Jobs of a lane may wait for the same thing: a mount, a hook, the bus. The rules:
/// - A lane with jobs gets a thread at once, however busy other lanes are: a job waits only for its own lane.
/// - A lane gets more threads, up to `perLane`, only while fewer than `limit` threads work in total. The thread of a
///   job that runs for longer than 30 s is stuck and does not count there until the job ends.
/// - There are never more than 128 threads; only when more lanes than that are busy does one wait for another.
///
/// A thread without a job ends, so an idle pool has no threads. Signals are blocked on every thread.
package final class WorkerPool<Lane: Hashable & Sendable>: Sendable {
    private let scheduler: QuietMutex<WorkerScheduler<Lane>>

    /// - Parameter limit: working threads in total; above it, each lane gets only one.
    package init(limit: Int = 8, perLane: Int = 8) {
        scheduler = QuietMutex(WorkerScheduler(limit: limit, perLane: perLane))
    }

    /// Runs `job` on a thread of `lane`, after the jobs already waiting there.
    ///
    /// Throws only when the lane has no thread and none can start; the job never runs then. Jobs that were queued before stay
    /// queued: the next free thread, of any lane, runs them.
    package func run(in lane: Lane, _ job: @escaping @Sendable () -> Void) throws(SystemError) {
        let now = Clocks.bootMilliseconds()
        try scheduler.withLock { scheduler throws(SystemError) in
            try scheduler.add(job, to: lane, at: now) { thread throws(SystemError) in
                // It begins once this lock is free.
                try WorkerThread.start { [self] in work(as: thread, in: lane) }
            }
        }
    }

    private func work(as thread: Int, in first: Lane) {
        var lane = first
        while true {
            let now = Clocks.bootMilliseconds()
            guard let job = scheduler.withLock({ $0.nextJob(for: thread, in: &lane, at: now) }) else { return }
            job()
        }
    }
}
