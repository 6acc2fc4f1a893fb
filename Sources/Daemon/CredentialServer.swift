import Linux
import Rotation
import Synchronization
import SystemPackage

/// Serves secrets to units on the credential socket, by unit and credential name, to root's systemd alone.
///
/// A thread of its own waits for all connections at once, so that slow or numerous peers cannot delay the rotation, nor
/// the rotation them. Requests wait until ``serve(_:)`` brings their secret.
final class CredentialServer: Sendable {
    let secretCache: SecretCache
    let log: Log
    /// Signalled when ``state`` has changed.
    let bell: EventCounter
    private let limits: CredentialLimits
    private let shared: Mutex<(table: CredentialTable, isStopping: Bool)>
    private let ended: EventCounter
    private let isStarted = Mutex(false)
    /// Connections that waited when an earlier process of the service died.
    private let inherited = Mutex<[Int32]>([])

    /// - Parameter configuration: the units to serve; secrets follow by ``serve(_:)``.
    init(
        _ configuration: Configuration, secretCache: SecretCache, log: Log,
        limits: CredentialLimits = CredentialLimits()
    ) throws(SystemError) {
        self.secretCache = secretCache
        self.log = log
        self.limits = limits
        bell = try EventCounter()
        ended = try EventCounter()
        shared = Mutex((CredentialTable(configuration), false))
    }

    var state: (table: CredentialTable, isStopping: Bool) {
        shared.withLock { $0 }
    }

    /// Serves the units of this configuration from now on. Any thread.
    func adopt(_ configuration: Configuration) {
        shared.withLock { $0.table = CredentialTable(configuration, after: $0.table) }
        bell.signal()
    }

    /// Serves these secrets from now on. Any thread.
    func serve(_ changes: [Served]) {
        guard !changes.isEmpty else { return }
        shared.withLock { shared in
            for served in changes { shared.table.take(served) }
        }
        bell.signal()
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
        let deadline = Clocks.bootMilliseconds() + limits.patience
        return all.map { CredentialConnection(Descriptor(adopting: $0), deadline: deadline) }
    }

    /// Starts the thread for `listener`; once.
    func start(_ listener: CredentialListener) throws(SystemError) {
        let waits = try CredentialWaits()
        try WorkerThread.start { [self] in
            run(listener, waits)
            ended.signal()
        }
        isStarted.withLock { $0 = true }
    }

    private func run(_ listener: CredentialListener, _ waits: CredentialWaits) {
        do throws(SystemError) {
            try CredentialRouter(self, listener, waits, limits).run()
        } catch {
            log.fail("the credential socket is not served any more: \(error); restart the daemon")
        }
    }

    /// Refuses the connections that wait and ends the thread. Those not accepted yet stay in the socket's queue: on
    /// systemd's socket the next start serves them, on the daemon's own the kernel has their read fail.
    func stop() {
        guard isStarted.withLock({ $0 }) else {
            // Dropping them refuses them.
            _ = takeInherited()
            return
        }
        shared.withLock { $0.isStopping = true }
        bell.signal()
        _ = ended.wait(atMost: 2 * limits.farewell)
    }
}

/// What the thread waits on; made before it starts, because a thread that cannot wait is of no use.
final class CredentialWaits: Sendable {
    let epoll: Epoll
    let timer: BootTimer

    init() throws(SystemError) {
        let epoll = try Epoll()
        timer = try BootTimer()
        self.epoll = epoll
    }
}
