import Failures
import Linux
import Model
import Outputs
import Rotation
import SystemPackage
import Systemd

/// Accepts and answers connections on the credential socket's thread, and sleeps in between.
///
/// Not Sendable: it stays on the thread that made it.
final class CredentialLoop {
    private let server: CredentialServer
    private let listener: CredentialListener
    private let waits: CredentialWaits
    private let limits: CredentialLimits
    private var connections: [UInt64: CredentialConnection] = [:]
    private var nextTag = Tag.firstConnection
    private var isListening = false
    /// When to accept again after that failed, as without a free descriptor.
    private var resumeAt: Int64?
    private var stopAt: Int64?
    private var journal: CredentialJournal

    private enum Tag {
        static let changed: UInt64 = 0
        static let timer: UInt64 = 1
        static let listener: UInt64 = 2
        static let firstConnection: UInt64 = 3
    }

    init(
        _ server: CredentialServer, _ listener: CredentialListener, _ waits: CredentialWaits, _ limits: CredentialLimits
    ) {
        self.server = server
        self.listener = listener
        self.limits = limits
        journal = CredentialJournal(log: server.log)
        self.waits = waits
    }

    /// Runs until the server stops and all are answered or time is up.
    func run() throws(SystemError) {
        try waits.epoll.add(server.changed.raw, tag: Tag.changed)
        try waits.epoll.add(waits.timer.raw, tag: Tag.timer)
        for connection in server.takeInherited() { admit(connection) }
        while true {
            let now = Self.now
            let (table, isStopping) = server.state
            if isStopping { stopAt = stopAt ?? now + limits.stopTime }
            for (tag, connection) in connections {
                decide(connection, by: table, at: now)
                try move(connection, tag, at: now)
            }
            if let stopAt, connections.isEmpty || now >= stopAt { return }
            if let resumeAt, now >= resumeAt { self.resumeAt = nil }
            try listen(stopAt == nil && resumeAt == nil && connections.count < limits.connections)
            let next = (connections.values.map(\.deadline) + [resumeAt, stopAt]).compactMap { $0 }.min()
            try waits.timer.arm(after: next.map { $0 - now })
            for event in try waits.epoll.wait() { try take(event) }
        }
    }

    /// Milliseconds on the clock that stops during a suspend, because the peers stop then too.
    static var now: Int64 { Clocks.monotonicMicroseconds() / 1_000 }

    private func take(_ event: Epoll.Event) throws(SystemError) {
        switch event.tag {
        case Tag.changed: server.changed.clear()
        case Tag.timer: _ = try waits.timer.read()
        case Tag.listener: acceptAll()
        default:
            // The peer has closed its end.
            if !event.readiness.isDisjoint(with: [.hungUp, .failed]) { try drop(event.tag) }
        }
    }

    private func listen(_ wanted: Bool) throws(SystemError) {
        guard wanted != isListening else { return }
        if wanted {
            try waits.epoll.add(listener.raw, tag: Tag.listener)
        } else {
            try waits.epoll.remove(listener.raw)
        }
        isListening = wanted
    }

    private func acceptAll() {
        let deadline = Self.now + limits.timeout
        while connections.count < limits.connections {
            do throws(SystemError) {
                guard let accepted = try UnixListener.accept(on: listener.raw) else { return }
                admit(CredentialConnection(accepted, deadline: deadline))
            } catch {
                // New connections wait in the socket's queue.
                resumeAt = Self.now + limits.pause
                journal.failed(error, at: Self.now)
                return
            }
        }
    }

    private func admit(_ connection: CredentialConnection) {
        connections[nextTag] = connection
        nextTag += 1
    }

    // MARK: One connection

    /// Sets the answer once it is known: the secret or a refusal.
    private func decide(_ connection: CredentialConnection, by table: CredentialTable, at now: Int64) {
        guard connection.answer == nil else { return }
        guard connection.user == 0 else {
            return refuse(connection, .notRoot(user: connection.user), at: now)
        }
        guard let request = connection.request else { return refuse(connection, .noUnit, at: now) }
        let credential = request.credential
        guard let (client, fingerprint) = table[request] else {
            return refuse(connection, .notConfigured(credential), at: now)
        }
        if let secret = fingerprint.flatMap(server.secretCache.secret) {
            connection.begin(.secret(secret), deadline: nil)
            journal.served(credential, client, secret.issued)
        } else if stopAt != nil {
            refuse(connection, .stopping(credential), at: now)
        } else if connection.deadline.map({ now >= $0 }) == true {
            refuse(connection, .noSecret(credential, client), at: now)
        }
    }

    private func refuse(_ connection: CredentialConnection, _ problem: CredentialProblem, at now: Int64) {
        // What root's systemd has read of it must not pass for the credential: its process reads on, or ends.
        connection.begin(.refusal, deadline: connection.user == 0 ? nil : now + limits.readingTime)
        journal.refused(problem, at: now)
    }

    /// Sends what can be sent now; drops a connection that is done or out of time.
    private func move(_ connection: CredentialConnection, _ tag: UInt64, at now: Int64) throws(SystemError) {
        let isAnswered = connection.answer != nil
        switch connection.push() {
        case .done, .broken:
            return try drop(tag)
        case .blocked where isAnswered && connection.deadline.map { now >= $0 } == true:
            return try drop(tag)
        case .blocked where connection.user != 0 && (otherUsers > limits.otherUsers || stopAt != nil):
            return try drop(tag)
        case .blocked:
            let readiness: Readiness = isAnswered ? .writable : []
            guard connection.awaited != readiness else { return }
            if connection.awaited == nil {
                try waits.epoll.add(connection.descriptor.raw, tag: tag, for: readiness)
                // If the daemon ends now, systemd's copy keeps the unit from starting with nothing, or with a part of a
                // refusal.
                if connection.user == 0 {
                    _ = try? NotifySocket()?.store(connection.descriptor, as: CredentialSocket.heldName)
                }
            } else {
                try waits.epoll.modify(connection.descriptor.raw, tag: tag, for: readiness)
            }
            connection.awaited = readiness
        }
    }

    private var otherUsers: Int {
        connections.values.count { $0.user != 0 }
    }

    private func drop(_ tag: UInt64) throws(SystemError) {
        guard let connection = connections.removeValue(forKey: tag), connection.awaited != nil else { return }
        // Explicitly: epoll keeps a socket of which systemd holds a copy.
        try waits.epoll.remove(connection.descriptor.raw)
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

/// Logs the outcome of credential requests; a refusal that repeats is logged once an hour.
struct CredentialJournal {
    let log: Log
    private var loggedAt: [CredentialProblem: Int64] = [:]
    private var failureLoggedAt: Int64?

    private static let reminder: Int64 = 3_600_000
    /// Refusals that are remembered; without a limit, requests for invented names could fill the log and the memory.
    private static let mostLogged = 256

    init(log: Log) {
        self.log = log
    }

    mutating func served(_ credential: ServedCredential, _ client: ClientName, _ issued: SecretInfo) {
        // If it is refused again later, that is logged at once.
        loggedAt[.noSecret(credential, client)] = nil
        loggedAt[.notConfigured(credential)] = nil
        log.note(.served(credential, client, issued))
    }

    mutating func refused(_ problem: CredentialProblem, at now: Int64) {
        loggedAt = loggedAt.filter { now < $0.value + Self.reminder }
        guard loggedAt[problem] == nil, loggedAt.count < Self.mostLogged else { return }
        loggedAt[problem] = now
        log.note(.notServed(problem))
    }

    /// Logs a failed accept, hourly at most.
    mutating func failed(_ error: SystemError, at now: Int64) {
        if let failureLoggedAt, now < failureLoggedAt + Self.reminder { return }
        failureLoggedAt = now
        let isOut = [.tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(error.errno)
        let failure = Failure(
            isOut ? .outOfDescriptors : .systemError, at: .named("credential socket"), cause: error.errno.rawValue)
        log.note(.acceptFailed(failure))
    }
}
