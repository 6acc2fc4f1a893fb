import AppleClientSecret
import Model

/// The last value read of something that other programs may change.
///
/// A read *counts* if its job started after the last sign of a change (jobs are numbered in the order in which they start).
/// A value that no longer counts is kept as the best that is known, and is read again.
struct Reading<Value: Sendable>: Sendable {
    /// The result of the last read; nil before the first one. While it does not count, it is still the best known result.
    private(set) var value: Value?
    /// The job that read last, successfully or not; nil before the first one.
    private(set) var readBy: JobID?
    /// Reads by jobs before this one do not count.
    private var countsFrom: JobID
    /// Change notices since the last read began.
    private var notices: ChangeNotices?

    /// - Parameters:
    ///   - value: the result known from before; it does not count.
    ///   - countsFrom: the first job whose read counts.
    init(_ value: Value? = nil, countsFrom: JobID) {
        self.value = value
        self.countsFrom = countsFrom
    }

    /// Whether reading was tried since the start or the last reload.
    var wasTried: Bool { readBy != nil }

    /// Whether the last read counts, successful or not.
    var isFresh: Bool { readBy.map { $0 >= countsFrom } ?? false }

    /// Whether there was a change notice since the last read began.
    var wasNoticed: Bool { notices != nil }

    mutating func notice(at now: Now) { notices = ChangeNotices(notices, at: now.boot) }

    /// Has it read again, even if a job before `next` is reading it now: that job may have missed a change.
    mutating func readAgain(next: JobID) { countsFrom = next }

    /// A read begins: it sees all changes noticed until now.
    mutating func begin() { notices = nil }

    /// Records a read; nil for one that failed.
    mutating func end(_ value: Value?, by job: JobID) {
        self.value = value
        readBy = job
    }

    /// Whether to read now: nothing that counts is known, or there was a notice and the writer has finished.
    func isDue(_ period: QuietPeriod, _ timer: inout WakeTimer) -> Bool {
        guard isFresh else { return true }
        if let notices { return notices.isDue(period, &timer) }
        return value == nil
    }
}
