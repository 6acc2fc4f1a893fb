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

    /// Thousands of clients want in at one time. In milliseconds.
    private static let pace: Int64 = 1_000

    /// - Parameters:
    ///   - first: what came of the first try.
    ///   - open: tries again; blocks.
    init(
        _ first: Result<StateDirectory, Trouble>, open: @escaping @Sendable () -> Result<StateDirectory, Trouble>
    ) {
        tries = QuietMutex(Tries(last: first, at: Clocks.bootMilliseconds()))
        self.open = open
    }

    /// One that stays closed.
    init(closed trouble: Trouble) {
        tries = QuietMutex(Tries(last: .failure(trouble), at: .max - Self.pace))
        open = { .failure(trouble) }
    }

    /// The directory as far as is known; never blocks.
    var known: StateDirectory? { try? tries.withLock { $0.last }.get() }

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
