import AppleClientSecret
import Glibc
import Linux
import Rotation

/// The answer to a request that is repeated until it is answered, with the pauses of any local failure and some minutes at
/// most.
final class RetriedQuery<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        /// Whether the first question was not answered.
        var isLate = false
        var report: (@Sendable () -> Void)?
    }

    private let state = QuietMutex(State())

    /// How often is asked at most: for six minutes and the time that the questions take.
    static var mostQuestions: Int { 12 }

    /// Asks once. Without an answer a thread continues to ask.
    ///
    /// - Parameters:
    ///   - most: how often is asked at most.
    ///   - pause: in milliseconds, after so many questions without an answer.
    ///   - ask: nil: there is no answer. Blocks.
    init(
        atMost most: Int = mostQuestions,
        pause: @escaping @Sendable (Int) -> Int64 = { RetryPause.localPause(failures: $0).count * 1_000 },
        _ ask: @escaping @Sendable () -> Value?
    ) {
        if let value = ask() {
            state.withLock { $0.value = value }
            return
        }
        state.withLock { $0.isLate = true }
        try? WorkerThread.start { [self] in
            for questions in 1..<most {
                usleep(UInt32(clamping: pause(questions) * 1_000))
                guard let value = ask() else { continue }
                let report = state.withLock { state in
                    state.value = value
                    return state.report
                }
                report?()
                return
            }
        }
    }

    /// Nil while there is none.
    var value: Value? { state.withLock { $0.value } }

    /// Has an answer reported that did not come at once, perhaps on another thread.
    func whenAnsweredLate(_ report: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            state.report = report
            return state.isLate && state.value != nil
        }
        if isThere { report() }
    }
}
