import AppleClientSecret
import Failures
import Linux
import Model
import Rotation
import Store
import SystemPackage

/// The daemon's client of the service that reads and puts secrets in the store. One connection is kept for all requests. The
/// service keeps its login and its watch while the connection lasts, and sends a notice on it when something in the store has
/// changed.
final class StoreServiceClient: Sendable {
    private let socket: NetworkServiceClient.Socket
    let service: NetworkServiceClient
    /// Receives the notices that come between a request and its answer.
    private let post: @Sendable (Input) -> Void
    /// Held during a request: the service answers one after the other.
    private let asking = QuietMutex<Void>(())
    /// Held by all requests but reads of secrets while they wait for ``asking``: a read waits for one of them at most.
    private let queue = QuietMutex<Void>(())
    /// Until when a read of secrets waits for the current request; nil while none waits.
    private let readWaits = QuietMutex<Deadline?>(nil)
    /// The connection, while nothing is asked.
    private let idle = QuietMutex<Idle>(Idle())
    /// When this machine's certificate expires, by the last answer.
    private let certificateExpiry = QuietMutex<WallTime?>(nil)
    /// Readable when something has arrived on the idle connection.
    private let notices: Epoll

    private struct Idle: ~Copyable {
        var connection: StoreConnection?
        /// How often ``disconnect()`` was called. A connection of an earlier generation is not kept after its request.
        var generation = 0
        /// The settings that the services connected to since have read, once there are any.
        var settings: StoreConfiguration?
        /// Whether the service's files may have changed.
        var isChangeExpected = false
    }

    /// In milliseconds; how long a read of secrets waits for the current request.
    private let readTimeout: Int64

    /// - Parameters:
    ///   - status: the daemon's status socket; the service's is next to it.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every request when raised.
    ///   - timeout: in milliseconds.
    ///   - readTimeout: in milliseconds.
    ///   - post: receives the notices that come while a request is open.
    init(
        besideSocket status: String, identity: Identity, cancel: EventCounter?, timeout: Int64 = ServiceTimeouts.store,
        readTimeout: Int64 = ServiceTimeouts.storeRead,
        post: @escaping @Sendable (Input) -> Void = { _ in }
    ) throws(SystemError) {
        notices = try Epoll()
        socket = NetworkServiceClient.Socket("store", besideSocket: status)
        service = NetworkServiceClient(
            missing: .storeServiceMissing, silent: .storeServiceSilent, identity: identity, cancel: cancel,
            timeout: timeout)
        self.readTimeout = readTimeout
        self.post = post
    }

    /// Readable when ``takeNotices()`` has something to take.
    var raw: Int32 { notices.raw }

    /// Why no request is possible, because there is no socket; nil if there is one.
    func problem() -> Failure? { service.problem(at: socket, for: .store) }

    // MARK: Notices

    /// The notices that have arrived while no request was open. Does not wait.
    func takeNotices() -> [Input] {
        idle.withLock { idle in
            guard var connection = idle.connection.take() else { return [] }
            let (arrived, isOver) = connection.arrived()
            if isOver {
                try? notices.remove(connection.raw)
                return arrived.inputs + [.storeServiceEnded]
            }
            // The store is read again now. Earlier notices add nothing, and cannot keep the loop busy.
            if arrived.hasChanged { try? notices.remove(connection.raw) }
            idle.connection = consume connection
            return arrived.inputs
        }
    }

    /// Records that root has requested a reload. The service then also reads the certificates and the password again, which
    /// only root and the service may read.
    func expectChange() {
        idle.withLock { $0.isChangeExpected = true }
    }

    /// Ends the connection where the service would read something else now: the settings have changed, or root has asked for it.
    func follow(_ settings: StoreConfiguration?) {
        let isKept = idle.withLock { idle in
            defer {
                idle.settings = settings
                idle.isChangeExpected = false
            }
            return settings == idle.settings && !idle.isChangeExpected
        }
        if !isKept { disconnect() }
    }

    /// Ends the connection, so that the next one is served by a process that has read the configuration and the certificates
    /// again. A connection with an open request ends once that is answered.
    func disconnect() {
        idle.withLock { idle in
            idle.generation += 1
            guard let connection = idle.connection.take() else { return }
            try? notices.remove(connection.raw)
        }
        post(.storeWatched(false))
    }

    // MARK: The connection

    /// The failure of an answer to another request.
    var answersAnotherRequest: Failure { service.answeredAnotherRequest(for: .store) }

    /// Makes a request. Blocks.
    ///
    /// - Parameter deadline: nil: ``NetworkServiceClient/timeout`` from now.
    func ask(_ request: StoreRequest, until deadline: Deadline? = nil) throws(Failure) -> StoreResult {
        let deadline = deadline ?? Deadline(in: service.timeout)
        let result: StoreResult
        do throws(Failure) {
            if request.isRead {
                readWaits.withLock { $0 = Deadline(in: readTimeout) }
                result = try exclusively(request, deadline)
            } else {
                result = try queue.withLock { _ throws(Failure) in try exclusively(request, deadline) }
            }
        } catch {
            post(.storeWatched(false))
            throw error
        }
        guard case .failed(let failure) = result else { return result }
        throw Failure(failure, at: .store)
    }

    private func exclusively(_ request: StoreRequest, _ deadline: Deadline) throws(Failure) -> StoreResult {
        try asking.withLock { _ throws(Failure) -> StoreResult in
            if request.isRead { readWaits.withLock { $0 = nil } }
            // The service may have been restarted since the last request.
            if let connection = takeIdle(), let result = try ask(request, on: connection, deadline) { return result }
            // Twice: where another process ends just now, as one does whose connection was ended a moment ago, systemd closes what
            // waits for it (`FlushPending=`).
            for _ in 0..<2 {
                if let result = try ask(request, on: try connect(), deadline) { return result }
            }
            throw Failure(.storeServiceSilent, at: .store, cause: Errno.connectionReset.rawValue)
        }
    }

    /// Whether a read of secrets has waited too long for the current request.
    private var isReadDelayed: Bool {
        readWaits.withLock { $0?.hasPassed == true }
    }

    /// Asks, and keeps the connection; nil if that is over.
    private func ask(
        _ request: StoreRequest, on connection: consuming StoreConnection, _ deadline: Deadline
    ) throws(Failure) -> StoreResult? {
        var connection = connection
        let store = idle.withLock { $0.settings?.place }
        let asked = try connection.exchange(
            request, for: store, until: deadline, givesWay: { isReadDelayed }, post: post)
        guard let answer = asked else {
            post(.storeWatched(false))
            return nil
        }
        noteCertificate(answer.certificateExpiresAt)
        let (notices, isOver) = connection.received()
        // A failure of the start comes from files that systemd handed to the service process at its start, which do not change for
        // that process. Closing the connection ends it; the next connection starts one with the files as they are then. It is
        // kept until then: root may restart the service meanwhile, and its end shows that.
        connection.isSpent = Self.isOfStart(answer.result)
        if connection.isSpent || isOver { post(.storeWatched(false)) }
        if !isOver {
            for notice in connection.isSpent ? [] : notices.inputs { post(notice) }
            keep(connection)
        }
        return answer.result
    }

    private static func isOfStart(_ result: StoreResult) -> Bool {
        guard case .failed(let failure) = result else { return false }
        return [
            .storeUnconfigured, .storeFileUnusable, .storeFileNotGuarded, .storeCredentialsRefused, .storeUserMissing,
            .storeUserUnknown, .storeCertificateRefused, .storeServerUntrusted,
        ]
        .contains(failure.code)
    }

    private func takeIdle() -> StoreConnection? {
        var taken: StoreConnection?
        idle.withLock { idle in
            taken = idle.connection.take()
            if let raw = taken?.raw { try? notices.remove(raw) }
            if taken?.isSpent == true { taken = nil }
        }
        return taken
    }

    private func keep(_ connection: consuming StoreConnection) {
        var kept: StoreConnection? = consume connection
        let isKept = idle.withLock { idle in
            guard let connection = kept.take(), connection.generation == idle.generation,
                (try? notices.add(connection.raw, tag: 0)) != nil
            else { return false }
            idle.connection = consume connection
            return true
        }
        if !isKept { post(.storeWatched(false)) }
    }

    private func connect() throws(Failure) -> StoreConnection {
        let generation = idle.withLock { $0.generation }
        return StoreConnection(try service.connect(to: socket, for: .store), generation: generation)
    }

    private func noteCertificate(_ expiresAt: WallTime?) {
        let isNews = certificateExpiry.withLock { last in
            defer { last = expiresAt }
            return last != expiresAt
        }
        if isNews { post(.storeCertificate(expiresAt: expiresAt)) }
    }
}
