import Glibc

/// One sync for all callers that want it at once.
///
/// A caller that arrives during a sync waits for the next one, which begins after it arrived and serves all who wait.
/// When that one ends, all of them return: no caller waits for a later one.
///
/// A sync also waits briefly for callers that have announced one: a sync for many costs as much as a sync for one.
@safe final class BatchedSync: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let ended: UnsafeMutablePointer<pthread_cond_t>
    /// No announced caller is left to wait for.
    private let gathered: UnsafeMutablePointer<pthread_cond_t>
    // Read and changed only under the lock.
    private var asked: UInt64 = 0
    /// `asked` when the last finished sync began: requests up to it are done.
    private var done: UInt64 = 0
    /// Whether a caller syncs, or waits for announced ones.
    private var isUnderWay = false
    private var announced = 0
    /// `asked` when the last failed sync began, and its error.
    private var failure: (through: UInt64, error: FileError)?

    /// How long to wait for announced callers (nanoseconds).
    private let patience: Int

    /// - Parameter patience: in nanoseconds; 2 ms is about what a sync takes: a caller that takes longer has a slow
    ///   disk, or none.
    init(patience: Int = 2_000_000) {
        self.patience = patience
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe ended = .allocate(capacity: 1)
        unsafe ended.initialize(to: pthread_cond_t())
        unsafe gathered = .allocate(capacity: 1)
        unsafe gathered.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(ended, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(gathered, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(ended)
        unsafe ended.deallocate()
        unsafe pthread_cond_destroy(gathered)
        unsafe gathered.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// An announced request; counts until this value is destroyed.
    struct Announcement: ~Copyable {
        private let batched: BatchedSync

        fileprivate init(_ batched: BatchedSync) {
            self.batched = batched
            batched.count(1)
        }

        deinit { batched.count(-1) }
    }

    /// Announces that a sync is wanted soon.
    func announce() -> Announcement { Announcement(self) }

    private func count(_ change: Int) {
        unsafe pthread_mutex_lock(mutex)
        announced += change
        if announced == 0 { unsafe pthread_cond_signal(gathered) }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Returns once a sync has succeeded that began after the call.
    ///
    /// - Parameter sync: run by one of the waiting callers, never two at a time.
    func callAsFunction(_ sync: () throws(FileError) -> Void) throws(FileError) {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        asked += 1
        let requestID = asked
        while done < requestID {
            if isUnderWay { unsafe pthread_cond_wait(ended, mutex) } else { runOnce(sync) }
        }
        // The kernel reports a failure once: a later sync that succeeds has not restored what was lost.
        if let failure, requestID <= failure.through { throw failure.error }
    }

    /// Waits for announced callers.
    private func gather() {
        guard announced > 0 else { return }
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + patience
        end = timespec(tv_sec: end.tv_sec + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        while announced > 0, unsafe pthread_cond_timedwait(gathered, mutex, &end) == 0 {}
    }

    private func runOnce(_ sync: () throws(FileError) -> Void) {
        isUnderWay = true
        gather()
        let through = asked
        unsafe pthread_mutex_unlock(mutex)
        var error: FileError?
        do throws(FileError) { try sync() } catch let thrown { error = thrown }
        unsafe pthread_mutex_lock(mutex)
        isUnderWay = false
        done = through
        if let error { failure = (through, error) }
        unsafe pthread_cond_broadcast(ended)
    }
}
