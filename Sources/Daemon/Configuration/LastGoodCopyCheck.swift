import Config
import Failures
import Linux
import Model

/// Checks, a while after a reload, whether root has copied the configuration. Only root may write the copy, at a start and
/// after a reload that root requested. After a reload by another user or a signal, a later start with a broken file falls back
/// to an older configuration.
final class LastGoodCopyCheck: Sendable {
    private let path: String
    private let timeout: Int64
    private let cancel: EventCounter
    private let isKept: @Sendable (LoadedConfiguration) -> Bool
    private let report: @Sendable (Failure) -> Void
    /// Counts the configurations that were adopted.
    private let adopted = QuietMutex(0)

    /// - Parameters:
    ///   - path: the configuration's path in the failure.
    ///   - timeout: milliseconds after which the copy has to be there.
    ///   - cancel: signalled at shutdown.
    ///   - isKept: whether the copy is of this configuration. Blocks.
    ///   - report: receives the failure if it is not.
    init(
        of path: String, timeout: Int64 = 30_000, cancel: EventCounter,
        isKept: @escaping @Sendable (LoadedConfiguration) -> Bool, report: @escaping @Sendable (Failure) -> Void
    ) {
        self.path = path
        self.timeout = timeout
        self.cancel = cancel
        self.isKept = isKept
        self.report = report
    }

    /// Looks for the copy of the configuration just adopted, unless another one is adopted before.
    func follow(_ loaded: LoadedConfiguration) {
        let number = adopted.withLock { number in
            number += 1
            return number
        }
        guard !isKept(loaded) else { return }
        // Without a thread nothing is reported; the copy is no worse for it.
        try? WorkerThread.start { [self] in
            guard !cancel.wait(atMost: timeout), adopted.withLock({ $0 == number }), !isKept(loaded) else { return }
            report(Failure(.configurationNotKept, at: .named(path)))
        }
    }
}
