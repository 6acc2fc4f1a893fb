/// The scheduling rule of ``WorkerPool``, without threads and clocks.
struct WorkerScheduler<Lane: Hashable & Sendable>: Sendable {
    typealias Job = @Sendable () -> Void

    /// Milliseconds after which a job is stuck: no healthy disk is slower.
    static var overdueAfter: Int64 { 30_000 }
    /// At 512 KiB of stack each, 64 MiB of address space; more lanes than that do not get stuck together.
    static var mostThreads: Int { 128 }

    private struct LaneState {
        /// A slice, because taking the first must not move the others.
        var waiting: ArraySlice<Job> = []
        /// The lane's threads, and when each began its job.
        var begun: [Int: Int64] = [:]
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

    /// Queues the job last in its lane. Throws, and does not queue it, when the lane has no thread and none can be started.
    ///
    /// - Parameter start: starts the thread of this number, if there is to be one more.
    mutating func add(
        _ job: @escaping Job, to lane: Lane, at now: Int64, start: (Int) throws(SystemError) -> Void
    ) throws(SystemError) {
        if threads < Self.mostThreads, lanes[lane].map({ mayGrow($0, at: now) }) ?? true {
            do throws(SystemError) {
                try start(started + 1)
                started += 1
                threads += 1
                lanes[lane, default: LaneState()].begun[started] = now
            } catch {
                // Another thread of the lane runs the job.
                guard lanes[lane]?.begun.isEmpty == false else { throw error }
            }
        }
        lanes[lane, default: LaneState()].waiting.append(job)
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
        guard let index = lanes.index(forKey: lane), let job = lanes.values[index].waiting.popFirst() else {
            return nil
        }
        lanes.values[index].begun[thread] = now
        return job
    }

    /// Lanes without a thread come before lanes that may grow.
    private func laneForThread(at now: Int64) -> Lane? {
        let waiting = lanes.filter { !$0.value.waiting.isEmpty }
        return waiting.first { $0.value.begun.isEmpty }?.key ?? waiting.first { mayGrow($0.value, at: now) }?.key
    }

    private func mayGrow(_ lane: LaneState, at now: Int64) -> Bool {
        if lane.begun.isEmpty { return true }
        guard lane.begun.count < perLane else { return false }
        let counted = lanes.values.reduce(0) { $0 + $1.begun.values.count { now - $0 <= Self.overdueAfter } }
        return counted < limit
    }
}
