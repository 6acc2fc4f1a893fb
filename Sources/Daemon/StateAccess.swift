import Linux
import Outputs
import Rotation

/// The way to the state directory, tried again by whoever wants in while it is closed: what was wrong with it at the start
/// is mended without a restart. One that is emptied, replaced, moved away or mounted over while it is in use is opened anew.
final class StateAccess: Sendable {
    private struct Tries {
        var last: Result<StateDirectory, Failure>
        /// In milliseconds since the machine was switched on.
        var at: Int64
    }

    /// How it is opened, in place of the one that was in use last if there was one. Blocks.
    typealias Opening = @Sendable (_ former: StateDirectory?) -> Result<StateDirectory, Failure>

    private let tries: QuietMutex<Tries>
    /// The directory that was in use last, held by the one who tries, which takes as long as a disk does. As long as no
    /// other can be opened its lock is held on to: what is only out of reach for a while is nobody else's.
    private let step = QuietMutex<StateDirectory?>(nil)
    private let open: Opening
    private let lost: @Sendable (StateDirectory) -> Void
    /// Whether the start has waited in vain.
    var isSilent: Bool { hasWaitedInVain.withLock { $0 } }
    private let hasWaitedInVain = QuietMutex(false)

    /// Thousands of clients want in at one time. In milliseconds.
    static let pace: Int64 = 1_000
    /// How long a start waits for the first try: one that hangs must not keep secrets from being published. In milliseconds.
    private static let patience: Int64 = 5_000

    /// Tries for the first time, and goes on trying behind the back of whoever has waited for long enough.
    ///
    /// - Parameters:
    ///   - path: of the directory, for what is said meanwhile.
    ///   - lost: told of a directory that is not in its place any more, before another is opened.
    init(
        at path: AbsolutePath?, open: @escaping Opening, lost: @escaping @Sendable (StateDirectory) -> Void
    ) throws(SystemError) {
        let silence = Failure(.notResponding, at: path.map(Failure.Place.path) ?? .named("the state directory"))
        tries = QuietMutex(Tries(last: .failure(silence), at: Clocks.bootMilliseconds()))
        self.open = open
        self.lost = lost
        let ended = try EventCounter()
        try WorkerThread.start { [self, ended] in
            _ = step.withLock { look(last, &$0) }
            ended.signal()
        }
        let isHeard = ended.wait(atMost: Self.patience)
        hasWaitedInVain.withLock { $0 = !isHeard }
    }

    /// One that stays closed.
    init(closed failure: Failure) {
        tries = QuietMutex(Tries(last: .failure(failure), at: .max - Self.pace))
        open = { _ in .failure(failure) }
        lost = { _ in }
    }

    /// What came of the last try that has ended; never blocks.
    var last: Result<StateDirectory, Failure> { tries.withLock { $0.last } }

    /// The directory as far as is known; never blocks.
    var known: StateDirectory? { try? last.get() }

    /// The directory. Blocks while it is tried.
    func get() throws(Failure) -> StateDirectory {
        let result = step.withLock { former in
            let tries = tries.withLock { $0 }
            return Clocks.bootMilliseconds() < tries.at + Self.pace ? tries.last : look(tries.last, &former)
        }
        return try result.get()
    }

    /// Makes sure at once that the directory is still in its place, where one is in use. Blocks.
    func makeSure() {
        step.withLock { former in
            // To try one that is closed is itself a reason for notice.
            if case .success = last { _ = look(last, &former) }
        }
    }

    private func look(
        _ last: Result<StateDirectory, Failure>, _ former: inout StateDirectory?
    ) -> Result<StateDirectory, Failure> {
        var result = last
        let directory = try? last.get()
        if directory?.isInPlace != true {
            if let directory { lost(directory) }
            result = open(former)
        }
        if case .success(let directory) = result { former = directory }
        let now = Clocks.bootMilliseconds()
        tries.withLock { $0 = Tries(last: result, at: now) }
        return result
    }
}
