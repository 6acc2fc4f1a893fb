internal import Failures
package import Linux
package import Model

/// Access to the state directory. While it cannot be opened each use tries again, so that no restart is needed once the cause is
/// fixed. A directory that is emptied, replaced, moved away or mounted over while it is in use is opened again. If the
/// configuration names another, that one is opened instead.
package final class StateAccess: Sendable {
    private struct Tries {
        var last: Result<StateDirectory, Failure>
        /// In milliseconds since the machine was switched on.
        var at: Int64
        /// Whether any try has ended.
        var hasEnded = true
        /// Reads the directory that this try could not open; nil until it is asked for. It reads all records once for a thousand
        /// clients with new outputs. The next try gets another one, because a disk may have been mounted since.
        var reader: StateReader?
    }

    /// Opens the one at this path, in place of the directory that was in use last if there was one. Blocks.
    package typealias Opening =
        @Sendable (_ path: AbsolutePath, _ former: StateDirectory?) -> Result<
            StateDirectory, Failure
        >

    private let path: QuietMutex<AbsolutePath?>
    private let identity: Identity
    private let tries: QuietMutex<Tries>
    /// The directory that was in use last. The mutex is held during a try, which takes as long as a disk does. Until
    /// another one is opened the old one keeps its lock: while it is only out of reach, no other daemon may take it.
    private let lastInUse = QuietMutex<StateDirectory?>(nil)
    private let open: Opening
    private let isHidden: @Sendable (AbsolutePath) -> Bool
    private let lost: @Sendable (StateDirectory) -> Void
    /// Whether no try has ended: nothing there responds yet. A disk that was only slow at the start is not silent for ever.
    package var isSilent: Bool { tries.withLock { !$0.hasEnded } }

    /// Milliseconds between tries: thousands of clients ask at once.
    static let interval: Int64 = 1_000
    /// Milliseconds that a start waits for the first try: one that does not respond must not keep secrets from being published.
    private static let timeout: Int64 = 5_000

    /// Tries for the first time, on a thread that continues if the start stops waiting.
    ///
    /// - Parameters:
    ///   - path: of the directory.
    ///   - identity: of the daemon.
    ///   - isHidden: whether one that is in use turns out to be one that `open` refuses. Blocks.
    ///   - lost: called with a directory that is no longer used, before another is opened. It was moved, may not be used or is
    ///     hidden (`isHidden`).
    package init(
        at path: AbsolutePath?, as identity: Identity, open: @escaping Opening,
        isHidden: @escaping @Sendable (AbsolutePath) -> Bool = { _ in false },
        lost: @escaping @Sendable (StateDirectory) -> Void
    ) throws(SystemError) {
        let silence = Failure(.notResponding, at: path.map(Failure.Place.path) ?? .named("the state directory"))
        self.path = QuietMutex(path)
        self.identity = identity
        tries = QuietMutex(Tries(last: .failure(silence), at: Clocks.bootMilliseconds(), hasEnded: false))
        self.open = open
        self.isHidden = isHidden
        self.lost = lost
        let ended = try EventCounter()
        try WorkerThread.start { [self, ended] in
            _ = lastInUse.withLock { openUnlessInPlace(last, after: &$0) }
            ended.signal()
        }
        _ = ended.wait(atMost: Self.timeout)
    }

    /// Always fails with `failure`.
    package init(closed failure: Failure) {
        path = QuietMutex(nil)
        identity = .current()
        tries = QuietMutex(Tries(last: .failure(failure), at: .max - Self.interval))
        open = { _, _ in .failure(failure) }
        isHidden = { _ in false }
        lost = { _ in }
    }

    /// The result of the last try that has ended; never blocks.
    package var last: Result<StateDirectory, Failure> { tries.withLock { $0.last } }

    /// The directory, if the last try opened it; never blocks.
    package var known: StateDirectory? { try? last.get() }

    /// The files of a directory that can perhaps be read, although it cannot be written to or locked. Missing files may be
    /// elsewhere, as if a disk is not mounted. Nil if it was opened, and if nothing in it counts. Never blocks.
    package var unopened: StateReader? {
        guard let path = path.withLock({ $0 }) else { return nil }
        return tries.withLock { tries in
            guard case .failure(let failure) = tries.last, failure.code == .stateUnusable else { return nil }
            let reader = tries.reader.flatMap { $0.path == path ? $0 : nil } ?? StateReader(in: path, as: identity)
            tries.reader = reader
            return reader
        }
    }

    /// The directory; tries again when due. Blocks.
    package func get() throws(Failure) -> StateDirectory {
        let result = lastInUse.withLock { former in
            let tries = tries.withLock { $0 }
            return Clocks.bootMilliseconds() < tries.at + Self.interval
                ? tries.last : openUnlessInPlace(tries.last, after: &former)
        }
        return try result.get()
    }

    /// Uses the directory at this path from now on. Records that were kept in another one must be kept again.
    package func follow(_ path: AbsolutePath?) {
        let isOther = self.path.withLock { old in
            defer { old = path }
            return old != path
        }
        guard isOther else { return }
        _ = lastInUse.withLock { openUnlessInPlace(last, after: &$0) }
    }

    /// Checks at once that the directory in use is still in its place and may be used; opens it again if not. Blocks.
    package func checkInPlace() {
        lastInUse.withLock { former in
            // Only then: opening a closed directory causes inotify events, which would call this again.
            if case .success = last { _ = openUnlessInPlace(last, after: &former) }
        }
    }

    /// Checks that the directory of the last try is in its place and may be used; else opens it again.
    private func openUnlessInPlace(
        _ last: Result<StateDirectory, Failure>, after former: inout StateDirectory?
    ) -> Result<StateDirectory, Failure> {
        var result = last
        let directory = try? last.get()
        guard let path = path.withLock({ $0 }) else {
            tries.withLock { $0.hasEnded = true }
            return result
        }
        if directory?.path != path || directory?.isInPlace != true || directory?.isUsable != true || isHidden(path) {
            if let directory { lost(directory) }
            result = open(path, former)
        }
        if case .success(let directory) = result { former = directory }
        let now = Clocks.bootMilliseconds()
        tries.withLock { $0 = Tries(last: result, at: now) }
        return result
    }
}
