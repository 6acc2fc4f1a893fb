import AppleClientSecret
internal import Failures
package import Model

/// The content of `metrics_file`, which node_exporter reads.
///
/// - It is first written when every client was tried: until then the file of the previous process knows more.
/// - It is written when its content should change, once a second at most: plenty for scrapers.
/// - It is written again when another program has deleted or changed it.
/// - A daemon that stops leaves only times. A single run writes the file at its end, also if a signal ends it. The next run may
///   be far off, and the previous run's file may no longer match what applications have.
/// - The file at a former path is removed: it would go stale, and node_exporter might still read it.
struct MetricsFileUpkeep: Sendable {
    /// Its content; nil while that is not known, or if it could not be written.
    private(set) var content: MetricsFileContent?
    /// Files at former paths that are to be removed.
    private(set) var former: Set<AbsolutePath> = []
    private var writes = RateLimit(1, in: 1)
    /// Whether there was a change notice of the file since it was last written.
    private var isNoticed = false
    /// After a notice it is written whatever its wanted content is, which changes nothing if it already has that. The daemon's
    /// own writes are noticed too, and another program may change it again and again.
    private var repairs = RateLimit(1, in: 10)

    fileprivate mutating func move(from old: AbsolutePath?, to new: AbsolutePath?) {
        content = nil
        if let old { former.insert(old) }
        if let new { former.remove(new) }
    }

    /// Records a change notice.
    mutating func notice() { isNoticed = true }

    fileprivate mutating func beginRemoving(_ path: AbsolutePath) { former.remove(path) }

    /// Records a write; nil for one that failed.
    fileprivate mutating func end(_ content: MetricsFileContent?) { self.content = content }

    /// Whether to compare it now with the wanted content.
    fileprivate func isDue(_ timer: inout WakeTimer) -> Bool {
        content == nil || isNoticed && repairs.admits(&timer) || writes.admits(&timer)
    }

    /// Compares it with the wanted content; returns whether to write that.
    fileprivate mutating func isToBeWritten(_ wanted: MetricsFileContent, at now: BootTime) -> Bool {
        let isRepair = isNoticed && repairs.next(at: now) == nil
        guard content != wanted || isRepair else { return false }
        writes.note(at: now)
        if isRepair { repairs.note(at: now) }
        isNoticed = false
        return true
    }
}

extension Rotation {
    mutating func adoptMetrics(_ change: ConfigurationChange) {
        guard change.old.metricsFile != change.new.metricsFile else { return }
        metrics.move(from: change.old.metricsFile, to: change.new.metricsFile)
        clearFault(.metricsFileUnwritable)
    }

    mutating func metricsFinished(_ job: Job, _ result: Result<Outcome, Failure>) {
        guard case .writeMetrics(let path, let content) = job.work, path == configuration.metricsFile else { return }
        switch result {
        case .success(.metricsWritten):
            metrics.end(content)
            clearFault(.metricsFileUnwritable)
        case .failure: metrics.end(nil)
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    mutating func planMetrics(_ timer: inout WakeTimer) {
        for path in metrics.former.sorted() {
            if jobs.start(.removeMetrics(path), on: .metricsFile(path), &timer) { metrics.beginRemoving(path) }
        }
        guard let path = configuration.metricsFile else { return }
        let now = timer.now
        let isStopping = jobs.isStopping
        // At the end ``unwrittenMetrics`` reports it.
        if !isOnce, !isStopping { judgeMetrics(path, at: now) }
        guard isOnce ? isStopping || hasTriedAll(at: now) : isReady,
            jobs.mayStart(.metricsFile(path), isKeeping: isStopping, &timer),
            isOnce || isStopping || metrics.isDue(&timer)
        else { return }
        let snapshot = snapshot(at: now)
        let content = isStopping && !isOnce ? MetricsFileContent.times(snapshot) : .everything(snapshot)
        guard metrics.isToBeWritten(content, at: now.boot) else { return }
        jobs.start(.writeMetrics(path, content), on: .metricsFile(path), &timer)
    }

    /// Raises a fault while the file cannot be written.
    private mutating func judgeMetrics(_ path: AbsolutePath, at now: Now) {
        if let failure = overdueFailure(of: .metricsFile(path)) {
            raiseFault(failure, nil, at: now)
        } else if let failed = jobs.attempts[.metricsFile(path)] {
            raiseFault(failed.failure.ofMetricsFile(path, remedy: nil), failed.notBefore, at: now)
        }
    }

    /// Whether it is not known yet if the file can be written.
    var awaitsMetrics: Bool {
        guard isReady, let path = configuration.metricsFile else { return false }
        return metrics.content == nil && !jobs.failsOrIsOverdue(.metricsFile(path))
    }

    /// Why the file was not written at the end; nil if it was written or not wanted.
    package var unwrittenMetrics: Failure? {
        guard let path = configuration.metricsFile else { return nil }
        let failure =
            jobs[.metricsFile(path)] == nil
            ? jobs.attempts[.metricsFile(path)]?.failure : Failure(.notResponding, at: .path(path))
        return failure?.ofMetricsFile(path, remedy: nil)
    }
}
