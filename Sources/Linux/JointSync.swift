import Glibc

/// One sync for all who want it at the same time.
///
/// Whoever comes while one is under way waits for the next, which begins after they came and serves all who wait. When it
/// has ended they go on together: nobody waits for one that others have begun meanwhile.
@safe final class JointSync: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let ended: UnsafeMutablePointer<pthread_cond_t>
    // Read and changed under the lock alone.
    private var asked: UInt64 = 0
    /// Who had asked when the last sync that has ended began: theirs is done.
    private var done: UInt64 = 0
    private var isUnderWay = false
    /// Who had asked when a sync that failed began.
    private var failure: (through: UInt64, error: FileError)?

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe ended = .allocate(capacity: 1)
        unsafe ended.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(ended, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(ended)
        unsafe ended.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Returns once a sync has succeeded that began after the call.
    ///
    /// - Parameter sync: carried out by one of those who wait, never twice at a time.
    func callAsFunction(_ sync: () throws(FileError) -> Void) throws(FileError) {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        asked += 1
        let ticket = asked
        while done < ticket {
            if isUnderWay { unsafe pthread_cond_wait(ended, mutex) } else { runOnce(sync) }
        }
        // The kernel tells of a failure once: a later sync that succeeds has not mended what was lost.
        if let failure, ticket <= failure.through { throw failure.error }
    }

    private func runOnce(_ sync: () throws(FileError) -> Void) {
        isUnderWay = true
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
