import AppleClientSecret
import Failures
import Glibc
import Keys
import Linux
import Model
import Rotation
import Store
import SystemPackage

/// The daemon's client of the service that reads and puts secrets in the store. One connection is kept for all requests:
/// the service keeps its login and its watch for as long as the connection lasts, and sends a notice on it when
/// something in the store has changed.
final class StoreService: Sendable {
    private let socket: NetworkService.Socket
    let service: NetworkService
    /// Receives the notices that come between a request and its answer.
    private let post: @Sendable (Input) -> Void
    /// Held during a request: the service answers one after the other.
    private let asking = QuietMutex<Void>(())
    /// Held by all requests but reads of secrets while they wait for ``asking``: a read waits for one of them at most.
    private let queue = QuietMutex<Void>(())
    /// Since when a read of secrets waits for another request; in milliseconds of the boot clock.
    private let readWaits = QuietMutex<Int64?>(nil)
    /// The connection, while nothing is asked.
    private let idle = QuietMutex<Idle>(Idle())
    /// When this machine's certificate expires, by the last answer.
    private let certificateExpiry = QuietMutex<WallTime?>(nil)
    /// Readable when something has arrived on the idle connection.
    private let notices: Epoll

    private struct Connection: ~Copyable {
        var stream: LineStream
        /// ``Idle/generation`` when it was made.
        let generation: Int
        /// How many notices have come since the last request.
        var noticeCount = 0
    }

    private struct Idle: ~Copyable {
        var connection: Connection?
        /// How often ``disconnect()`` was called. A connection of an earlier generation is not kept after its request.
        var generation = 0
        /// The settings that the services connected to since have read, once there are any.
        var settings: StoreConfiguration?
        /// Whether what the service was handed may have changed.
        var isChangeExpected = false
    }

    /// In milliseconds; how long a read of secrets waits for what is asked now.
    private let readPatience: Int64
    /// Notices between a request and its answer, or since the last request. A service that sends more is disconnected.
    private static let mostNotices = 64
    /// In bytes, of the notices that arrive while no request is open: one has some 30.
    private static let longestNotices = 4_096

    /// - Parameters:
    ///   - status: the daemon's status socket; the service's is next to it.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every question when raised.
    ///   - patience: in milliseconds. A login may take a minute, and a request a few seconds for each member.
    ///   - readPatience: in milliseconds; longer than the members take to answer one after the other.
    ///   - post: receives the notices that come while a request is open.
    init(
        besideSocket status: String, identity: Identity, cancel: EventCounter?, patience: Int64 = 90_000,
        readPatience: Int64 = 30_000,
        post: @escaping @Sendable (Input) -> Void = { _ in }
    ) throws(SystemError) {
        notices = try Epoll()
        socket = NetworkService.Socket("store", besideSocket: status)
        service = NetworkService(
            missing: .storeServiceMissing, silent: .storeServiceSilent, identity: identity, cancel: cancel,
            patience: patience)
        self.readPatience = readPatience
        self.post = post
    }

    /// Readable when ``takeNotices()`` has something to take.
    var raw: Int32 { notices.raw }

    /// Why no request can be made, because there is no socket; nil where there is one.
    func obstacle() -> Failure? { service.obstacle(at: socket, for: .store) }

    // MARK: Notices

    /// The notices that have arrived while no request was open. Does not wait.
    func takeNotices() -> [Input] {
        idle.withLock { idle in
            guard var connection = idle.connection.take() else { return [] }
            let lines = (try? connection.stream.arrived(atMost: Self.longestNotices)) ?? nil
            let inputs = (lines ?? []).map(Self.input)
            connection.noticeCount += inputs.count
            // While no question is open only notices may come, and few. Anything else breaks the protocol, so the connection
            // is closed.
            if lines == nil || connection.stream.isClosed || inputs.contains(nil)
                || connection.noticeCount > Self.mostNotices
            {
                try? notices.remove(connection.stream.raw)
                return Self.once(inputs) + [.storeWatched(false)]
            }
            // The store is read again now. Earlier notices add nothing, and cannot keep the loop busy.
            if inputs.contains(.changeNoticed(.store)) { try? notices.remove(connection.stream.raw) }
            idle.connection = consume connection
            return Self.once(inputs)
        }
    }

    /// Notes that root has asked for a reload: then the certificates and the password, too, are read again, which only root and
    /// the service may read.
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
            try? notices.remove(connection.stream.raw)
        }
        post(.storeWatched(false))
    }

    /// Notices that repeat count once: the last one about the watch, and whether something has changed.
    private static func once(_ inputs: [Input?]) -> [Input] {
        let watched = inputs.last { $0 == .storeWatched(true) || $0 == .storeWatched(false) } ?? nil
        return [watched, inputs.contains(.changeNoticed(.store)) ? .changeNoticed(.store) : nil].compactMap { $0 }
    }

    // MARK: The connection

    /// The failure of an answer to another request than was made.
    static var answersAnotherQuestion: Failure {
        Failure(.storeServiceSilent, at: .store, detail: "it answered another request")
    }

    /// Makes a request. Blocks.
    ///
    /// - Parameter deadline: in milliseconds of the boot clock; nil: ``NetworkService/patience`` from now.
    func ask(_ question: StoreQuestion, until deadline: Int64? = nil) throws(Failure) -> StoreResult {
        let deadline = deadline ?? Clocks.bootMilliseconds() + service.patience
        let result: StoreResult
        do throws(Failure) {
            if question.isRead {
                readWaits.withLock { $0 = Clocks.bootMilliseconds() }
                result = try exclusively(question, deadline)
            } else {
                result = try queue.withLock { _ throws(Failure) in try exclusively(question, deadline) }
            }
        } catch {
            post(.storeWatched(false))
            throw error
        }
        guard case .failed(let failure) = result else { return result }
        throw Failure(
            failure.code, at: .store, detail: failure.detail.map(Redaction.foreign),
            retryAfter: failure.retryAfter.map { Seconds(Int64($0)) })
    }

    private func exclusively(_ question: StoreQuestion, _ deadline: Int64) throws(Failure) -> StoreResult {
        try asking.withLock { _ throws(Failure) -> StoreResult in
            if question.isRead { readWaits.withLock { $0 = nil } }
            // The service may have been restarted since the last question.
            if let connection = takeIdle(), let result = try ask(question, on: connection, deadline) { return result }
            guard let result = try ask(question, on: try connect(), deadline) else {
                throw Failure(.storeServiceSilent, at: .store, cause: Errno.connectionReset.rawValue)
            }
            return result
        }
    }

    /// Whether a read of secrets has waited for too long for what is asked now.
    private var isReadDelayed: Bool {
        readWaits.withLock { $0 }.map { Clocks.bootMilliseconds() - $0 > readPatience } ?? false
    }

    /// Asks, and keeps the connection; nil where that is over.
    private func ask(
        _ question: StoreQuestion, on connection: consuming Connection, _ deadline: Int64
    ) throws(Failure) -> StoreResult? {
        var connection = connection
        connection.noticeCount = 0
        guard let result = try exchange(question, &connection.stream, deadline) else {
            post(.storeWatched(false))
            return nil
        }
        let lines = connection.stream.received()
        let notices = Self.once(lines.map(Self.input))
        connection.noticeCount = lines.count
        if Self.isOfStart(result) || lines.count > Self.mostNotices {
            // A failure of the start comes from files that systemd handed to the service process at its start, which do not change for
            // that process. Closing the connection ends it; the next connection starts one with the files as they are then.
            post(.storeWatched(false))
        } else {
            for notice in notices { post(notice) }
            keep(connection)
        }
        return result
    }

    private static func isOfStart(_ result: StoreResult) -> Bool {
        guard case .failed(let failure) = result else { return false }
        return [
            .storeUnconfigured, .storeFileUnusable, .storeCredentialsRefused, .storeCertificateRefused,
            .storeServerUntrusted,
        ]
        .contains(failure.code)
    }

    private func takeIdle() -> Connection? {
        var taken: Connection?
        idle.withLock { idle in
            taken = idle.connection.take()
            if let raw = taken?.stream.raw { try? notices.remove(raw) }
        }
        return taken
    }

    private func keep(_ connection: consuming Connection) {
        var kept: Connection? = consume connection
        let isKept = idle.withLock { idle in
            guard let connection = kept.take(), connection.generation == idle.generation,
                (try? notices.add(connection.stream.raw, tag: 0)) != nil
            else { return false }
            idle.connection = consume connection
            return true
        }
        if !isKept { post(.storeWatched(false)) }
    }

    private func connect() throws(Failure) -> Connection {
        let generation = idle.withLock { $0.generation }
        try service.checkRate(at: socket, for: .store)
        let stream: LineStream
        do {
            stream = try LineStream(
                connectingTo: socket.path, timeoutSeconds: NetworkService.connecting, longestLine: 0)
        } catch {
            throw service.missing(at: socket, cause: error.errno.rawValue, for: .store)
        }
        try service.checkListener(try? stream.peer(), at: socket, for: .store)
        return Connection(stream: stream, generation: generation)
    }

    /// Sends a question and reads notices until the answer comes; nil when the connection is over.
    private func exchange(
        _ question: StoreQuestion, _ stream: inout LineStream, _ deadline: Int64
    ) throws(Failure) -> StoreResult? {
        stream.longest = StoreAnswer.longest(for: question)
        do {
            try stream.write(question.request, until: deadline, cancel: service.cancel)
        } catch {
            if error.errno == .brokenPipe || error.errno == .connectionReset { return nil }
            throw Failure(.storeServiceSilent, at: .store, cause: error.errno.rawValue)
        }
        // Notices that repeat count once.
        var isWatched: Bool?
        var hasChanged = false
        defer {
            if let isWatched { post(.storeWatched(isWatched)) }
            if hasChanged { post(.changeNoticed(.store)) }
        }
        var noticeCount = 0
        while noticeCount <= Self.mostNotices {
            let line: [UInt8]?
            do {
                // All but a read look each second whether a read waits.
                let until = question.isRead ? deadline : min(deadline, Clocks.bootMilliseconds() + 1_000)
                line = try stream.next(until: until, cancel: service.cancel)
            } catch {
                if error.errno == .timedOut, Clocks.bootMilliseconds() < deadline, !isReadDelayed { continue }
                throw Failure(.storeServiceSilent, at: .store, cause: error.errno.rawValue)
            }
            guard let line else { return nil }
            noticeCount += 1
            if let notice = StoreNotice(line: line) {
                switch notice {
                case .watching: isWatched = true
                case .unwatched: isWatched = false
                case .changed: hasChanged = true
                }
            } else if let answer = StoreAnswer(line: line, to: question) {
                noteCertificate(answer.certificateExpiresAt)
                return answer.result
            } else {
                throw Failure(.storeServiceSilent, at: .store, detail: "its answer does not belong to a request")
            }
        }
        throw Failure(.storeServiceSilent, at: .store, detail: "it does not stop sending notices")
    }

    private func noteCertificate(_ expiresAt: WallTime?) {
        let isNews = certificateExpiry.withLock { last in
            defer { last = expiresAt }
            return last != expiresAt
        }
        if isNews { post(.storeCertificate(expiresAt: expiresAt)) }
    }

    private static func input(_ line: [UInt8]) -> Input? {
        switch StoreNotice(line: line) {
        case .watching: .storeWatched(true)
        case .unwatched: .storeWatched(false)
        case .changed: .changeNoticed(.store)
        case nil: nil
        }
    }
}
