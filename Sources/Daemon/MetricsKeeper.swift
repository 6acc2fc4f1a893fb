import Failures
import Linux
import Model
import Outputs
import Rotation
import StatusAPI
import SystemPackage

/// Keeps `metrics_file` up to date, for node_exporter to read.
///
/// Stays on the loop's thread. A worker renders and writes, one write at a time, so that a file system that does not respond
/// delays nothing but this file. Nothing is written while nothing has changed.
final class MetricsKeeper {
    private struct Write {
        let number: Int
        let startedAt: BootTime
        var isOverdue = false
    }

    private struct Ending: Sendable {
        let number: Int
        let path: AbsolutePath
        let failure: Failure?
    }

    private let executor: Executor
    private let endings: Inbox<Ending>
    private var path: AbsolutePath?
    private var snapshot: Snapshot?
    /// Whether ``snapshot`` came after the last write began, or that write failed.
    private var isOwed = false
    /// Until every client was tried once, the previous process's file knows more.
    private var wasReady = false
    private var write: Write?
    private var writes = 0
    private var failures = 0
    private var notBefore: BootTime?

    /// The descriptor to wait for: readable when a write has ended.
    var raw: Int32 { endings.raw }

    init(_ path: AbsolutePath?, executor: Executor) throws(SystemError) {
        self.path = path
        self.executor = executor
        endings = try Inbox()
    }

    /// The least time between two writes, in milliseconds: once a second is plenty for scrapers.
    private static let interval: Int64 = 1_000

    /// When the loop has to call ``advance(at:)``; nil while nothing has to be written.
    var wake: BootTime? {
        if let write { return write.isOverdue ? nil : write.startedAt + Rotation.overdueAfter }
        return isOwed && wasReady && path != nil ? notBefore : nil
    }

    /// Writes to this path from now on, and at once where the last write has failed. The file at the old path is removed: it
    /// would go stale, and a user might still read it.
    func adopt(_ path: AbsolutePath?, at now: BootTime) -> [Input] {
        guard path != self.path else {
            // One that does not end has been reported.
            guard failures > 0, write?.isOverdue != true else { return [] }
            notBefore = nil
            begin(at: now)
            return [.metricsFileOwed]
        }
        if let old = self.path, write == nil { remove(old) }
        self.path = path
        // A write under way has its file removed at its end.
        write = nil
        failures = 0
        notBefore = nil
        isOwed = snapshot != nil
        begin(at: now)
        return [.faultCleared(.metricsFileUnwritable)] + (path == nil ? [] : [.metricsFileOwed])
    }

    /// Has this snapshot written.
    func show(_ snapshot: Snapshot, at now: BootTime) {
        self.snapshot = snapshot
        wasReady = wasReady || snapshot.ready
        isOwed = true
        begin(at: now)
    }

    /// Handles writes that ended and begins the next; returns the daemon faults they raise or clear.
    func advance(at now: BootTime) -> [Input] {
        var inputs: [Input] = []
        for ending in endings.drain() {
            if ending.path != path {
                remove(ending.path)
            } else if ending.number == write?.number {
                write = nil
                inputs.append(settle(ending.failure, at: now))
            }
        }
        if let path, let write, !write.isOverdue, now >= write.startedAt + Rotation.overdueAfter {
            self.write?.isOverdue = true
            inputs.append(.faultRaised(Failure(.notResponding, at: .path(path)).ofMetricsFile(path)))
        }
        begin(at: now)
        return inputs
    }

    private func settle(_ failure: Failure?, at now: BootTime) -> Input {
        guard let failure else {
            failures = 0
            return .faultCleared(.metricsFileUnwritable)
        }
        failures += 1
        isOwed = true
        let next = now + Retry.localPause(failures: failures)
        notBefore = next
        return .faultRaised(failure, nextAttempt: next)
    }

    private func begin(at now: BootTime) {
        guard isOwed, wasReady, write == nil, notBefore.map({ now >= $0 }) ?? true, let path, let snapshot else {
            return
        }
        isOwed = false
        notBefore = now.advanced(milliseconds: Self.interval)
        write(to: path, at: now) { Metrics.text(of: snapshot) }
    }

    private func write(to path: AbsolutePath, at now: BootTime, _ text: @escaping @Sendable () -> String) {
        writes += 1
        write = Write(number: writes, startedAt: now)
        let number = writes
        do throws(SystemError) {
            try executor.pool.run(in: executor.lane(of: path)) { [executor, endings] in
                let failure = executor.write(Array(text().utf8), toMetricsFile: path)
                endings.post(Ending(number: number, path: path, failure: failure))
            }
        } catch {
            let failure = Failure(.outOfMemory, at: .named("worker thread"), cause: error.number)
            endings.post(Ending(number: number, path: path, failure: failure.ofMetricsFile(path)))
        }
    }

    /// Not waited for: what cannot be removed stays, as do all files of a former configuration.
    private func remove(_ path: AbsolutePath) {
        try? executor.pool.run(in: executor.lane(of: path)) { [executor] in try? executor.metricsFile(path).remove() }
    }

    // MARK: The end

    /// Writes for the last time and waits for it, `timeout` milliseconds at most.
    ///
    /// - Parameter goesOn: whether metrics of the daemon itself still count after the process ends, as with `--once`.
    ///   Else only times are written, which stay true.
    /// - Returns: why it could not be written.
    func finish(_ snapshot: Snapshot, goesOn: Bool, within timeout: Int64) -> Failure? {
        guard let path, wasReady || snapshot.ready else { return nil }
        let deadline = Deadline(in: timeout)
        if write != nil, !endings.wait(atMost: deadline.rest) {
            return Failure(.notResponding, at: .path(path)).ofMetricsFile(path)
        }
        write(to: path, at: BootTime(milliseconds: Clocks.bootMilliseconds())) {
            goesOn ? Metrics.text(of: snapshot) : Metrics.timesText(of: snapshot)
        }
        while endings.wait(atMost: deadline.rest) {
            if let last = endings.drain().last(where: { $0.number == writes }) { return last.failure }
        }
        return Failure(.notResponding, at: .path(path)).ofMetricsFile(path)
    }
}
