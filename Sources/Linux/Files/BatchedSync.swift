import Glibc

/// One sync for all who want it at the same time.
///
/// Whoever comes while one is under way waits for the next, which begins after they came and serves all who wait. When it
/// has ended they go on together: nobody waits for one that others have begun meanwhile.
///
/// A sync also waits a moment for those who have announced that they will want one: what they all want costs as much as
/// what one does.
@safe final class BatchedSync: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let ended: UnsafeMutablePointer<pthread_cond_t>
    /// All who were announced have asked, or will not.
    private let gathered: UnsafeMutablePointer<pthread_cond_t>
    // Read and changed under the lock alone.
    private var asked: UInt64 = 0
    /// Who had asked when the last sync that has ended began: theirs is done.
    private var done: UInt64 = 0
    /// Whether somebody syncs, or waits for others to come.
    private var isUnderWay = false
    private var announced = 0
    /// Who had asked when a sync that failed began.
    private var failure: (through: UInt64, error: FileError)?

    /// How long who syncs waits for others (nanoseconds).
    private let patience: Int

    /// - Parameter patience: in nanoseconds; 2 ms is about what a sync takes: who does not come by then has a disk that
    ///   is slow, or has none.
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

    /// Somebody who will soon ask, until this value's life ends.
    struct Announcement: ~Copyable {
        private let batched: BatchedSync

        fileprivate init(_ batched: BatchedSync) {
            self.batched = batched
            batched.count(1)
        }

        deinit { batched.count(-1) }
    }

    /// Says that a sync will soon be wanted.
    func announce() -> Announcement { Announcement(self) }

    private func count(_ change: Int) {
        unsafe pthread_mutex_lock(mutex)
        announced += change
        if announced == 0 { unsafe pthread_cond_signal(gathered) }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Returns once a sync has succeeded that began after the call.
    ///
    /// - Parameter sync: carried out by one of those who wait, never twice at a time.
    func callAsFunction(_ sync: () throws(FileError) -> Void) throws(FileError) {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        asked += 1
        let requestID = asked
        while done < requestID {
            if isUnderWay { unsafe pthread_cond_wait(ended, mutex) } else { runOnce(sync) }
        }
        // The kernel tells of a failure once: a later sync that succeeds has not mended what was lost.
        if let failure, requestID <= failure.through { throw failure.error }
    }

    /// Waits for those who were announced.
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
