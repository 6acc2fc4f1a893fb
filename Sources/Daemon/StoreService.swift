import AppleClientSecret
import Failures
import Glibc
import Keys
import Linux
import Rotation
import Store
import SystemPackage

/// The daemon's client of the service that reads and puts secrets in the store. One connection is kept for all requests:
/// the service keeps its login and its watch for as long as the connection lasts, and sends a notice on it when
/// something in the store has changed.
final class StoreService: Sendable {
    private let socket: NetworkService.Socket
    private let service: NetworkService
    /// Receives the notices that come between a request and its answer.
    private let post: @Sendable (Input) -> Void
    /// Held during a request: the service answers one after the other.
    private let asking = QuietMutex<Void>(())
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

    /// In bytes: 1,024 values of 16 KiB, the most that one question names.
    private static let longestAnswer = 20 << 20
    /// In bytes, of the notices that arrive while no request is open: one has some 30.
    private static let longestNotices = 4_096

    /// - Parameters:
    ///   - status: the daemon's status socket; the service's lies beside it.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every question when raised.
    ///   - patience: in milliseconds. A login may take a minute, and a request a few seconds for each member.
    ///   - post: receives the notices that come while a request is open.
    init(
        besideSocket status: String, identity: Identity, cancel: EventCounter?, patience: Int64 = 90_000,
        post: @escaping @Sendable (Input) -> Void = { _ in }
    ) throws(SystemError) {
        notices = try Epoll()
        socket = NetworkService.Socket("store", besideSocket: status)
        service = NetworkService(
            missing: .storeServiceMissing, silent: .storeServiceSilent, identity: identity, cancel: cancel,
            patience: patience)
        self.post = post
    }

    /// Readable when ``takeNotices()`` has something to take.
    var raw: Int32 { notices.raw }

    /// Why no request can be made, because there is no socket; nil where there is one.
    func obstacle() -> Failure? { service.obstacle(at: socket, for: .store) }

    /// What these places hold, and the rollouts that belong to them. Blocks.
    ///
    /// - Parameter issued: what a token says of itself; nil for one that is no client secret.
    func read(_ places: [StorePlace], issued: (Token) -> SecretInfo?) throws(Failure) -> Outcome {
        var rollouts: [StorePlace: RolloutObservation] = [:]
        var found: [StorePlace: StoreObservation] = [:]
        var start = 0
        while start < places.count {
            let page = places[start..<min(start + StoreQuestion.mostSlots, places.count)]
            guard case .read(let findings, rollouts: let read) = try ask(.read(page.map(\.slot))),
                findings.count == page.count, read.keys.allSatisfy(page.indices.map { $0 - start }.contains)
            else { throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question") }
            for (number, rollout) in read { rollouts[places[start + number]] = Self.observation(rollout) }
            for (place, finding) in zip(page, findings) {
                found[place] = Self.observation(finding, issued: issued)
            }
            start += page.count
        }
        return .storeRead(found, rollouts: rollouts)
    }

    /// Puts a token into a place that was last changed at this revision. Blocks.
    func put(
        _ token: Token, at place: StorePlace, ifAt revision: Int64, issued: (Token) -> SecretInfo?
    ) throws(Failure) -> StorePut {
        switch try ask(.put(place.slot, token, ifAt: revision)) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let finding): return .conflict(Self.observation(finding, issued: issued))
        default:
            throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question")
        }
    }

    /// Puts the rollout of the secret in a place, if that was last changed at this revision, and the secret with it. Blocks.
    func put(
        _ rollout: Rollout, at place: StorePlace, ifAt revision: Int64, with secret: (token: Token, revision: Int64)?,
        issued: (Token) -> SecretInfo?
    ) throws(Failure) -> RolloutPut {
        let stored = StoredRollout(
            secret: rollout.secret, admitted: rollout.admitted, isHeld: rollout.state == .held,
            tolerated: rollout.tolerated, isOrdered: rollout.isOrdered)
        let put = secret.map { StoreQuestion.TokenPut($0.token, ifAt: $0.revision) }
        switch try ask(.putRollout(stored, of: place.slot, ifAt: revision, with: put)) {
        case .put(let revision): return .done(revision: revision)
        case .rolloutFound(let found, let secret):
            return .found(
                found.map(Self.observation), secret: secret.map { Self.observation($0, issued: issued) })
        default: throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question")
        }
    }

    private static func observation(_ finding: RolloutFinding) -> RolloutObservation {
        switch finding {
        case .rollout(let stored, let revision):
            .rollout(
                Rollout(
                    of: stored.secret, admitted: stored.admitted, state: stored.isHeld ? .held : .going,
                    tolerated: stored.tolerated, isOrdered: stored.isOrdered),
                revision: revision)
        case .flawed(let revision): .foreign(revision: revision)
        case .forbidden: .forbidden
        }
    }

    // MARK: Reports

    /// Bounds what somebody who may write to the store can have this daemon read: a page has 256 reports, or 1 MiB of
    /// them.
    private static let mostPages = 1_000

    /// Puts this machine's report under its name, if that was last changed at this revision. Blocks.
    func put(_ value: HostReportValue, of machine: String, ifAt revision: Int64) throws(Failure) -> ReportPut {
        switch try ask(.putReport(value.text, machine: machine, ifAt: revision)) {
        case .put(let revision): return .done(revision: revision)
        case .reportFound(let found):
            return .found(found.map { Self.observation($0, of: Set(value.report.clients.keys), own: value.instance) })
        default: throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question")
        }
    }

    /// What all machines report of these clients. Blocks.
    func readReports(of clients: Set<ClientIdentity>) throws(Failure) -> [String: HostObservation] {
        var found: [String: HostObservation] = [:]
        var first: [UInt8]?
        for _ in 0..<Self.mostPages {
            guard case .reports(let page, let next) = try ask(.readReports(from: first)) else {
                throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question")
            }
            for report in page { found[report.machine] = Self.observation(report, of: clients, own: nil) }
            guard let next else { return found }
            first = next
        }
        throw Failure(.storeAnswerUnexpected, at: .store, detail: "more than \(Self.mostPages) pages of reports")
    }

    /// Removes a machine's report, unless it was changed at another revision. Blocks.
    func forgetReport(of machine: String, ifAt revision: Int64) throws(Failure) -> Outcome {
        guard case .reportForgotten = try ask(.forgetReport(machine: machine, ifAt: revision)) else {
            throw Failure(.storeServiceSilent, at: .store, detail: "it answers another question")
        }
        return .reportForgotten
    }

    private static func observation(
        _ found: StoredReport, of clients: Set<ClientIdentity>, own instance: String?
    ) -> HostObservation {
        let value = found.value.flatMap { HostReportValue($0, of: clients) }
        return HostObservation(
            revision: found.revision, report: value?.report, isOwn: instance != nil && value?.instance == instance)
    }

    /// The notices that have arrived while no request was open. Does not wait.
    func takeNotices() -> [Input] {
        idle.withLock { idle in
            guard var connection = idle.connection.take() else { return [] }
            let lines = (try? connection.stream.arrived(atMost: Self.longestNotices)) ?? nil
            let inputs = (lines ?? []).map(Self.input)
            // While no question is open only notices may come. Any other line breaks the protocol, so the connection is
            // closed.
            if lines == nil || connection.stream.isClosed || inputs.contains(nil) {
                try? notices.remove(connection.stream.raw)
                return inputs.compactMap { $0 } + [.storeWatched(false)]
            }
            idle.connection = consume connection
            return inputs.compactMap { $0 }
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
    /// anew. A connection with an open request ends once that is answered.
    func disconnect() {
        idle.withLock { idle in
            idle.generation += 1
            guard let connection = idle.connection.take() else { return }
            try? notices.remove(connection.stream.raw)
        }
        post(.storeWatched(false))
    }

    // MARK: The connection

    private func ask(_ question: StoreQuestion) throws(Failure) -> StoreResult {
        let result: StoreResult
        do throws(Failure) {
            result = try asking.withLock { _ throws(Failure) -> StoreResult in
                // The service may have been restarted since the last question.
                if let connection = takeIdle(), let result = try ask(question, on: connection) { return result }
                guard let result = try ask(question, on: try connect()) else {
                    throw Failure(.storeServiceSilent, at: .store, cause: Errno.connectionReset.rawValue)
                }
                return result
            }
        } catch {
            post(.storeWatched(false))
            throw error
        }
        guard case .failed(let failure) = result else { return result }
        throw Failure(
            failure.code.failure, at: .store, detail: failure.detail.map(Redaction.foreign),
            retryAfter: failure.retryAfter.map { Seconds(Int64($0)) })
    }

    /// Asks, and keeps the connection; nil where that is over.
    private func ask(_ question: StoreQuestion, on connection: consuming Connection) throws(Failure) -> StoreResult? {
        var connection = connection
        guard let result = try exchange(question, &connection.stream) else {
            post(.storeWatched(false))
            return nil
        }
        let notices = connection.stream.received().compactMap(Self.input)
        if Self.isOfStart(result) {
            // This failure comes from files that systemd handed to the service process at its start, which do not change for
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
        return [.unconfigured, .fileUnusable, .credentialsRefused, .certificateRefused, .serverUntrusted]
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
                connectingTo: socket.path, timeoutSeconds: NetworkService.connecting, longestLine: Self.longestAnswer)
        } catch {
            throw service.missing(at: socket, cause: error.errno.rawValue, for: .store)
        }
        try service.checkListener(try? stream.peer(), at: socket, for: .store)
        return Connection(stream: stream, generation: generation)
    }

    /// Sends a question and reads notices until the answer comes; nil when the connection is over.
    private func exchange(_ question: StoreQuestion, _ stream: inout LineStream) throws(Failure) -> StoreResult? {
        let deadline = Clocks.bootMilliseconds() + service.patience
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
        while true {
            let line: [UInt8]?
            do {
                line = try stream.next(until: deadline, cancel: service.cancel)
            } catch {
                throw Failure(.storeServiceSilent, at: .store, cause: error.errno.rawValue)
            }
            guard let line else { return nil }
            if let notice = StoreNotice(line: line) {
                switch notice {
                case .watching: isWatched = true
                case .unwatched: isWatched = false
                case .changed: hasChanged = true
                }
            } else if let answer = StoreAnswer(line: line, sha256: { SHA256.digest($0) }) {
                noteCertificate(answer.certificateExpiresAt)
                return answer.result
            } else {
                throw Failure(.storeServiceSilent, at: .store, detail: "it is no answer to a question")
            }
        }
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

    private static func observation(_ finding: StoreFinding, issued: (Token) -> SecretInfo?) -> StoreObservation {
        switch finding {
        case .missing: .missing
        case .forbidden: .forbidden
        case .token(let token, let revision):
            issued(token).map { .secret($0, revision: revision) }
                ?? .foreign("it \((TokenReader.objection(to: token) ?? .unsigned).words)", revision: revision)
        case .flawed(.tooLong, let revision): .foreign("it is longer than a secret", revision: revision)
        case .flawed(.notAValue, let revision): .foreign("it is no value of this program", revision: revision)
        }
    }
}

extension StorePlace {
    fileprivate var slot: StoreSlot { StoreSlot(team: team, client: client, keyDigest: key.description) }
}
