import Linux
import Publishing
import Rotation

/// The way to the state directory, tried again by whoever wants in while it is closed: what was wrong with it at the start
/// is mended without a restart.
final class StateDoor: Sendable {
    private struct Tries {
        var last: Result<StateDirectory, Trouble>
        /// In milliseconds since the machine was switched on.
        var at: Int64
    }

    private let tries: QuietMutex<Tries>
    /// Held by the one who tries, which takes as long as a disk does.
    private let turn = QuietMutex(())
    private let open: @Sendable () -> Result<StateDirectory, Trouble>
    /// Whether the start has waited in vain.
    var isSilent: Bool { hasWaitedInVain.withLock { $0 } }
    private let hasWaitedInVain = QuietMutex(false)

    /// Thousands of clients want in at one time. In milliseconds.
    private static let pace: Int64 = 1_000
    /// How long a start waits for the first try: one that hangs must not keep secrets from being published. In milliseconds.
    private static let patience: Int64 = 5_000

    /// Tries for the first time, and goes on trying behind the back of whoever has waited for long enough.
    ///
    /// - Parameters:
    ///   - path: of the directory, for what is said meanwhile.
    ///   - open: tries; blocks.
    init(
        at path: AbsolutePath?, open: @escaping @Sendable () -> Result<StateDirectory, Trouble>
    ) throws(SystemError) {
        let silence = Trouble(.notResponding, at: path.map(Trouble.Place.path) ?? .named("the state directory"))
        tries = QuietMutex(Tries(last: .failure(silence), at: Clocks.bootMilliseconds()))
        self.open = open
        let ended = try EventCounter()
        try WorkerThread.start { [self, ended] in
            _ = turn.withLock { _ in tryAgain() }
            ended.signal()
        }
        let isHeard = ended.wait(atMost: Self.patience)
        hasWaitedInVain.withLock { $0 = !isHeard }
    }

    /// One that stays closed.
    init(closed trouble: Trouble) {
        tries = QuietMutex(Tries(last: .failure(trouble), at: .max - Self.pace))
        open = { .failure(trouble) }
    }

    /// What came of the last try that has ended; never blocks.
    var last: Result<StateDirectory, Trouble> { tries.withLock { $0.last } }

    /// The directory as far as is known; never blocks.
    var known: StateDirectory? { try? last.get() }

    /// The directory. Blocks while it is tried.
    func get() throws(Trouble) -> StateDirectory {
        let result = turn.withLock { _ in
            let tries = tries.withLock { $0 }
            if case .failure = tries.last, Clocks.bootMilliseconds() >= tries.at + Self.pace {
                return tryAgain()
            }
            return tries.last
        }
        return try result.get()
    }

    private func tryAgain() -> Result<StateDirectory, Trouble> {
        let result = open()
        let now = Clocks.bootMilliseconds()
        tries.withLock { $0 = Tries(last: result, at: now) }
        return result
    }
}
