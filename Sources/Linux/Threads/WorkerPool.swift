/// Runs blocking jobs on threads, in lanes: a stuck lane delays no other one.
///
/// A lane is what its jobs may wait for together: a mount, a hook, the bus. The rules:
/// - A lane with jobs gets a thread at once, whatever other lanes do: a job waits only for its own lane.
/// - A lane gets more threads, up to `perLane`, only while fewer than `limit` threads work in total. The thread of a
///   job that runs for longer than 30 s is stuck and does not count there until the job ends.
/// - A lane with a stuck thread gets another, up to `perLane`, only when all its threads are stuck: what does not respond may
///   really lie elsewhere, behind a link, while the rest of the lane goes on.
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
    /// queued: the next thread that is free, in whichever lane, runs them.
    package func run(in lane: Lane, _ job: @escaping @Sendable () -> Void) throws(SystemError) {
        let now = Clocks.bootMilliseconds()
        guard let thread = scheduler.withLock({ $0.add(job, to: lane, at: now) }) else { return }
        do throws(SystemError) {
            try WorkerThread.start { [self] in work(as: thread, in: lane) }
        } catch {
            // If the lane has got another thread meanwhile, that one runs the job.
            if scheduler.withLock({ $0.withdraw(thread, from: lane) }) { throw error }
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

/// The scheduling rule of ``WorkerPool``, without threads and clocks.
struct WorkerScheduler<Lane: Hashable & Sendable>: Sendable {
    typealias Job = @Sendable () -> Void

    /// Milliseconds after which a job is stuck: no healthy disk is slower.
    static var overdueAfter: Int64 { 30_000 }
    /// At 512 KiB of stack each, 64 MiB of address space; more lanes than that do not get stuck together.
    static var mostThreads: Int { 128 }

    private struct LaneState {
        /// A slice, because taking the first must not move the others.
        var waiting: ArraySlice<QueuedJob> = []
        /// The lane's threads, and when each began its job.
        var begun: [Int: Int64] = [:]

        var hasWaiting: Bool { !waiting.isEmpty }

        /// Removes the job that a thread was to be started for. Returns whether it was still queued.
        mutating func removeJob(of thread: Int) -> Bool {
            let count = waiting.count
            waiting.removeAll { $0.thread == thread }
            return waiting.count < count
        }
    }

    private struct QueuedJob: Sendable {
        let run: Job
        /// The thread that is started for it; nil: it is left to those that there are.
        let thread: Int?
    }

    private let limit: Int
    private let perLane: Int
    private var lanes: [Lane: LaneState] = [:]
    private var started = 0
    /// Threads that exist.
    private(set) var threads = 0

    init(limit: Int, perLane: Int) {
        self.limit = limit
        self.perLane = perLane
    }

    /// Queues the job last in its lane. Returns the number of a thread to start for it, if any.
    mutating func add(_ job: @escaping Job, to lane: Lane, at now: Int64) -> Int? {
        var thread: Int?
        if threads < Self.mostThreads, lanes[lane].map({ mayGrow($0, at: now) }) ?? true {
            started += 1
            threads += 1
            thread = started
        }
        lanes[lane, default: LaneState()].waiting.append(QueuedJob(run: job, thread: thread))
        if let thread { lanes[lane]?.begun[thread] = now }
        return thread
    }

    /// The thread could not be started. Returns whether its job is dropped: no other thread has taken it, or is there to.
    mutating func withdraw(_ thread: Int, from lane: Lane) -> Bool {
        threads -= 1
        guard let index = lanes.index(forKey: lane) else { return false }
        lanes.values[index].begun[thread] = nil
        guard lanes.values[index].begun.isEmpty else { return false }
        let isDropped = lanes.values[index].removeJob(of: thread)
        if !lanes.values[index].hasWaiting { lanes[lane] = nil }
        return isDropped
    }

    /// The thread's next job, from its lane or from another that may have it; `nil`: it ends.
    mutating func nextJob(for thread: Int, in lane: inout Lane, at now: Int64) -> Job? {
        if let job = takeJob(for: thread, in: lane, at: now) { return job }
        lanes[lane]?.begun[thread] = nil
        if lanes[lane]?.begun.isEmpty ?? false { lanes[lane] = nil }
        guard let other = laneForThread(at: now) else {
            threads -= 1
            return nil
        }
        lane = other
        return takeJob(for: thread, in: lane, at: now)
    }

    private mutating func takeJob(for thread: Int, in lane: Lane, at now: Int64) -> Job? {
        guard let index = lanes.index(forKey: lane), let job = lanes.values[index].waiting.popFirst()?.run else {
            return nil
        }
        lanes.values[index].begun[thread] = now
        return job
    }

    /// Lanes without a thread come before lanes that may grow.
    private func laneForThread(at now: Int64) -> Lane? {
        let waiting = lanes.filter { $0.value.hasWaiting }
        return waiting.first { $0.value.begun.isEmpty }?.key ?? waiting.first { mayGrow($0.value, at: now) }?.key
    }

    private func mayGrow(_ lane: LaneState, at now: Int64) -> Bool {
        if lane.begun.isEmpty { return true }
        let isOverdue = { (begin: Int64) in now - begin > Self.overdueAfter }
        let overdue = lane.begun.values.count(where: isOverdue)
        guard lane.begun.count < perLane, overdue == 0 || overdue == lane.begun.count else { return false }
        let counted = lanes.values.reduce(0) { $0 + $1.begun.values.count { !isOverdue($0) } }
        return counted < limit
    }
}
