import Failures
import Linux
import Model
import Outputs
import Rotation
import SystemPackage
import Systemd

/// Accepts and answers connections on the credential socket's thread, and sleeps in between.
///
/// Not Sendable: it stays on the thread that created it.
final class CredentialLoop {
    private let server: CredentialServer
    private let listener: ListeningSocket
    private let waits: CredentialWaits
    private let limits: CredentialLimits
    private var connections: [UInt64: CredentialConnection] = [:]
    private var nextTag = Tag.firstConnection
    private var isListening = false
    /// When to accept again after that failed, as without a free descriptor.
    private var resumeAt: Deadline?
    private var stopAt: Deadline?
    private var requestLog: CredentialRequestLog

    private enum Tag {
        static let changed: UInt64 = 0
        static let timer: UInt64 = 1
        static let listener: UInt64 = 2
        static let firstConnection: UInt64 = 3
    }

    init(
        _ server: CredentialServer, _ listener: ListeningSocket, _ waits: CredentialWaits, _ limits: CredentialLimits
    ) {
        self.server = server
        self.listener = listener
        self.limits = limits
        requestLog = CredentialRequestLog(log: server.log)
        self.waits = waits
    }

    /// Runs until the server stops and all are answered or time is up.
    func run() throws(SystemError) {
        try waits.epoll.add(server.changed.raw, tag: Tag.changed)
        try waits.epoll.add(waits.timer.raw, tag: Tag.timer)
        for connection in server.takeInherited() { admit(connection) }
        while true {
            let (table, isStopping) = server.state
            if isStopping { stopAt = stopAt ?? Deadline(in: limits.stopTime) }
            for (tag, connection) in connections {
                decide(connection, by: table)
                try move(connection, tag)
            }
            if let stopAt, connections.isEmpty || stopAt.hasPassed { return }
            if resumeAt?.hasPassed == true { resumeAt = nil }
            try listen(stopAt == nil && resumeAt == nil && connections.count < limits.connections)
            let next = (connections.values.map(\.deadline) + [resumeAt, stopAt]).compactMap { $0 }.min()
            try waits.timer.arm(after: next?.rest)
            for event in try waits.epoll.wait() { try take(event) }
        }
    }

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
        let deadline = Deadline(in: limits.timeout)
        while connections.count < limits.connections {
            do throws(SystemError) {
                guard let accepted = try listener.accept() else { return }
                admit(CredentialConnection(accepted, deadline: deadline))
            } catch {
                // New connections wait in the socket's queue.
                resumeAt = Deadline(in: limits.pause)
                requestLog.failed(error)
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
    private func decide(_ connection: CredentialConnection, by table: CredentialTable) {
        guard connection.answer == nil else { return }
        guard connection.user == 0 else {
            return refuse(connection, .notRoot(user: connection.user))
        }
        guard let request = connection.request else { return refuse(connection, .noUnit) }
        let credential = request.credential
        guard let (client, fingerprint) = table[request] else {
            return refuse(connection, .notConfigured(credential))
        }
        if let secret = fingerprint.flatMap(server.secretCache.secret) {
            connection.begin(.secret(secret), deadline: nil)
            requestLog.served(credential, client, secret.issued)
        } else if stopAt != nil {
            refuse(connection, .stopping(credential))
        } else if connection.deadline?.hasPassed == true {
            refuse(connection, .noSecret(credential, client))
        }
    }

    private func refuse(_ connection: CredentialConnection, _ problem: CredentialProblem) {
        // A partly read refusal must not pass for the credential in root's systemd: its process reads on, or ends.
        connection.begin(.refusal, deadline: connection.user == 0 ? nil : Deadline(in: limits.readingTime))
        requestLog.refused(problem)
    }

    /// Sends as much as fits now; drops a connection that is done or out of time.
    private func move(_ connection: CredentialConnection, _ tag: UInt64) throws(SystemError) {
        let isAnswered = connection.answer != nil
        let isOutOfTime = isAnswered && connection.deadline?.hasPassed == true
        let isUnwanted = connection.user != 0 && (otherUsers > limits.otherUsers || stopAt != nil)
        guard connection.push(), !isOutOfTime, !isUnwanted else { return try drop(tag) }
        let readiness: Readiness = isAnswered ? .writable : []
        guard connection.awaited != readiness else { return }
        if connection.awaited == nil {
            try waits.epoll.add(connection.descriptor.raw, tag: tag, for: readiness)
            // If the daemon ends now, systemd's copy keeps the unit from starting with nothing, or with a part of a refusal.
            if connection.user == 0 {
                _ = try? NotifySocket()?.store(connection.descriptor, as: CredentialSocket.heldName)
            }
        } else {
            try waits.epoll.modify(connection.descriptor.raw, tag: tag, for: readiness)
        }
        connection.awaited = readiness
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

/// The descriptors that the thread waits on. Created before it starts, because a thread that cannot wait is of no use.
final class CredentialWaits: Sendable {
    let epoll: Epoll
    let timer: BootTimer

    init() throws(SystemError) {
        let epoll = try Epoll()
        timer = try BootTimer()
        self.epoll = epoll
    }
}
