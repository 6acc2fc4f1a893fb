import Glibc

/// A lock around a value, like `Synchronization.Mutex`, for locks that many threads want at once.
///
/// That one spins before it waits and is handed over by the kernel to who waits longest, who may not run for a while:
/// with more threads than cores both cost more than what is done under the lock. This one waits asleep and goes to
/// whoever comes first.
@safe package struct QuietMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }
}
