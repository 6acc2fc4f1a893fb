import Failures
import Linux
import Model
import SystemPackage

/// Serves secrets to units on the credential socket, by unit and credential name, to root's systemd only.
///
/// A thread of its own waits for all connections at once. So slow or numerous peers cannot delay the rotation, and the rotation
/// cannot delay them. Requests wait until ``serve(_:)`` has their secret.
final class CredentialServer: Sendable {
    let secretCache: SecretCache
    let log: Log
    /// Signalled when ``state`` has changed.
    let changed: EventCounter
    private let limits: CredentialLimits
    private let shared: QuietMutex<(table: CredentialTable, isStopping: Bool)>
    private let ended: EventCounter
    private let isStarted = QuietMutex(false)
    /// Connections that waited when an earlier process of the service died.
    private let inherited = QuietMutex<[Int32]>([])

    /// - Parameter configuration: the units to serve; secrets follow by ``serve(_:)``.
    init(
        _ configuration: Configuration, secretCache: SecretCache, log: Log,
        limits: CredentialLimits = CredentialLimits()
    ) throws(SystemError) {
        self.secretCache = secretCache
        self.log = log
        self.limits = limits
        changed = try EventCounter()
        ended = try EventCounter()
        shared = QuietMutex((CredentialTable(configuration), false))
    }

    var state: (table: CredentialTable, isStopping: Bool) {
        shared.withLock { $0 }
    }

    /// Serves the units of this configuration from now on. Any thread.
    func adopt(_ configuration: Configuration) {
        shared.withLock { $0.table = CredentialTable(configuration, after: $0.table) }
        changed.signal()
    }

    /// Serves these secrets from now on. Any thread.
    func serve(_ changes: [ServedSecret]) {
        guard !changes.isEmpty else { return }
        shared.withLock { shared in
            for served in changes { shared.table.take(served) }
        }
        changed.signal()
    }

    /// Answers a connection that waited when an earlier process of the service died.
    func inherit(_ connection: consuming Descriptor) {
        let raw = connection.release()
        inherited.withLock { $0.append(raw) }
    }

    /// The inherited connections; empty after the first call.
    func takeInherited() -> [CredentialConnection] {
        let all = inherited.withLock { all in
            defer { all = [] }
            return all
        }
        let deadline = Deadline(in: limits.timeout)
        return all.map { CredentialConnection(Descriptor(adopting: $0), deadline: deadline) }
    }

    /// Starts the thread for `listener`; once.
    func start(_ listener: ListeningSocket) throws(SystemError) {
        let waits = try CredentialWaits()
        try WorkerThread.start { [self] in
            run(listener, waits)
            ended.signal()
        }
        isStarted.withLock { $0 = true }
    }

    private func run(_ listener: ListeningSocket, _ waits: CredentialWaits) {
        do throws(SystemError) {
            try CredentialLoop(self, listener, waits, limits).run()
        } catch {
            let failure = Failure(
                .credentialSocketUnusable, at: .named("credential socket"), cause: error.number,
                detail: "it is no longer served",
                remedy: .say("restart the daemon", run: .restart()))
            log.note(.credentialsLost(failure))
        }
    }

    /// Has the connections that wait refused, and the thread end. Connections that were not accepted stay in the socket's
    /// queue. On systemd's socket the next start serves them; on the daemon's own the kernel makes their read fail.
    func beginStop() {
        shared.withLock { $0.isStopping = true }
        changed.signal()
    }

    /// The same, and waits for the end of the thread: until `moment` at most, or twice the time that refusals have.
    func stop(by moment: BootTime? = nil) {
        guard isStarted.withLock({ $0 }) else {
            for connection in takeInherited() { connection.refuse() }
            return
        }
        beginStop()
        let left = moment.map { max(0, $0.milliseconds - Clocks.bootMilliseconds()) } ?? .max
        _ = ended.wait(atMost: min(left, 2 * limits.stopTime))
    }
}
