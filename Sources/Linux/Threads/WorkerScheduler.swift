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
        guard lane.begun.count < perLane else { return false }
        let counted = lanes.values.reduce(0) { $0 + $1.begun.values.count { now - $0 <= Self.overdueAfter } }
        return counted < limit
    }
}
