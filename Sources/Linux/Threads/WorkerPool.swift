/// Runs blocking jobs on threads, so that a lane that is stuck holds up nobody but itself.
///
/// A lane is what jobs may hang on together: a mount, a hook, the bus. The rule, from which that follows:
/// - A lane that has jobs has a thread, at once and whatever other lanes do: a job waits for its own lane alone.
/// - A lane gets more threads, up to `perLane`, only while fewer than `limit` threads work in all. A job that runs for
///   longer than 30 s no longer counts there: its thread is written off until it comes back.
/// - A lane with such a job gets a further thread only when all of its threads are stuck, and `perLane` at most: what
///   hangs may lie elsewhere than its name says, behind a link, and the rest of the lane goes on.
/// - There are never more than 128 threads; beyond that many busy lanes, and only there, one waits for another.
///
/// A thread ends when it finds nothing to do, so an idle pool is nothing at all. Signals are blocked on every thread.
package final class WorkerPool<Lane: Hashable & Sendable>: Sendable {
    private let crew: QuietMutex<WorkerCrew<Lane>>

    /// - Parameter limit: threads that work at one time before each lane has to do with one.
    package init(limit: Int = 8, perLane: Int = 8) {
        crew = QuietMutex(WorkerCrew(limit: limit, perLane: perLane))
    }

    /// Runs `job` on a thread of `lane`, after those that wait there already.
    ///
    /// - Parameter isUrgent: before all those that are not, which have to wait for as long as such jobs come.
    ///
    /// Throws, and never runs the job, only when the lane has no thread and none can be made.
    package func run(
        in lane: Lane, isUrgent: Bool = false, _ job: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let now = Clocks.bootMilliseconds()
        guard let thread = crew.withLock({ $0.add(job, to: lane, isUrgent: isUrgent, at: now) }) else { return }
        do throws(SystemError) {
            try WorkerThread.start { [self] in work(as: thread, in: lane) }
        } catch {
            // Another thread of the lane may have come meanwhile, and will do the job.
            if crew.withLock({ $0.withdraw(thread, from: lane) }) { throw error }
        }
    }

    private func work(as thread: Int, in first: Lane) {
        var lane = first
        while true {
            let now = Clocks.bootMilliseconds()
            guard let job = crew.withLock({ $0.nextJob(for: thread, in: &lane, at: now) }) else { return }
            job()
        }
    }
}
