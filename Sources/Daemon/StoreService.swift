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
    private let service: NetworkService
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

    /// What these places hold, and the rollouts that belong to them. Blocks.
    ///
    /// - Parameter issued: what a token says of itself; nil for one that is no client secret.
    func read(_ places: [StorePlace], issued: (Token) -> SecretInfo?) throws(Failure) -> Outcome {
        var rollouts: [StorePlace: RolloutObservation] = [:]
        var found: [StorePlace: StoreObservation] = [:]
        let deadline = Clocks.bootMilliseconds() + service.patience
        for start in stride(from: 0, to: places.count, by: StoreQuestion.mostKeys / 2) {
            let page = places[start..<min(start + StoreQuestion.mostKeys / 2, places.count)]
            // A secret and its rollout next to each other, so that both are read in one transaction.
            let keys = page.flatMap { [StoreKey.secret($0.slot), .rollout($0.slot)] }
            guard case .read(let entries) = try ask(.read(keys), until: deadline), entries.count == keys.count else {
                throw Self.answersAnotherQuestion
            }
            for (number, place) in page.enumerated() {
                found[place] = Self.secret(entries[2 * number], issued)
                rollouts[place] = Self.rollout(entries[2 * number + 1])
            }
        }
        return .storeRead(found, rollouts: rollouts)
    }

    /// Puts a token into a place that was last changed at this revision. Blocks.
    func put(
        _ token: Token, at place: StorePlace, ifAt revision: Int64, issued: (Token) -> SecretInfo?
    ) throws(Failure) -> StorePut {
        switch try ask(.put([try Self.put(token, at: place, ifAt: revision)])) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == 1 else { throw Self.answersAnotherQuestion }
            // Another version may have written the same token in other words.
            if case .value(let bytes, let revision) = entries[0],
                let held = StoreValue.decode(bytes, sha256: { SHA256.digest($0) }), held.name == token.name
            {
                return .done(revision: revision)
            }
            return .conflict(Self.secret(entries[0], issued))
        default: throw Self.answersAnotherQuestion
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
        var puts = [StoreQuestion.Put(stored.jsonText.bytes, at: .rollout(place.slot), ifAt: revision)]
        if let secret { puts.append(try Self.put(secret.token, at: place, ifAt: secret.revision)) }
        switch try ask(.put(puts)) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == puts.count else { throw Self.answersAnotherQuestion }
            return .found(
                Self.rollout(entries[0]), secret: secret == nil ? nil : Self.secret(entries[1], issued))
        default: throw Self.answersAnotherQuestion
        }
    }

    private static func put(
        _ token: Token, at place: StorePlace, ifAt revision: Int64
    ) throws(Failure) -> StoreQuestion.Put {
        guard let value = StoreValue.encode(token) else { throw Failure(.storeSecretTooLong, at: .store) }
        return StoreQuestion.Put(value, at: .secret(place.slot), ifAt: revision)
    }

    /// The place of a secret holds this.
    private static func secret(_ entry: StoreEntry, _ issued: (Token) -> SecretInfo?) -> StoreObservation {
        switch entry {
        case .missing: return .missing
        case .forbidden: return .forbidden
        case .tooLong(let revision): return .foreign("it is longer than a secret", revision: revision)
        case .value(let bytes, let revision):
            guard let token = StoreValue.decode(bytes, sha256: { SHA256.digest($0) }) else {
                return .foreign("clientsecretd did not write it", revision: revision)
            }
            return issued(token).map { .secret($0, revision: revision) }
                ?? .foreign("it \((TokenReader.objection(to: token) ?? .unsigned).words)", revision: revision)
        }
    }

    /// The place of a rollout holds this; nil for none.
    private static func rollout(_ entry: StoreEntry) -> RolloutObservation? {
        switch entry {
        case .missing: return nil
        case .forbidden: return .forbidden
        case .tooLong(let revision): return .foreign(revision: revision)
        case .value(let bytes, let revision):
            guard let stored = try? StoredRollout(parsing: bytes) else { return .foreign(revision: revision) }
            let rollout = Rollout(
                of: stored.secret, admitted: stored.admitted, state: stored.isHeld ? .held : .going,
                tolerated: stored.tolerated, isOrdered: stored.isOrdered)
            return .rollout(rollout, revision: revision)
        }
    }

    private static var answersAnotherQuestion: Failure {
        Failure(.storeServiceSilent, at: .store, detail: "it answered another request")
    }

    // MARK: Reports

    // What a user who may write to the store, or controls the service, can make this daemon keep: some 100 MB.
    /// Of at most ``StoreResult/mostListed`` reports, or 1 MiB of them.
    private static let mostPages = 1_000
    /// Twice as many as are supported.
    private static let mostMachines = 20_000
    /// What they say of clients, in all.
    private static let mostHoldings = 200_000

    /// Puts this machine's report under its name, if that was last changed at this revision. Blocks.
    func put(_ value: HostReportValue, of machine: String, ifAt revision: Int64) throws(Failure) -> ReportPut {
        let put = StoreQuestion.Put(Array(value.text.utf8), at: .report(of: machine), ifAt: revision)
        switch try ask(.put([put])) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == 1 else { throw Self.answersAnotherQuestion }
            return .found(Self.report(entries[0], of: Set(value.report.clients.keys), own: value.instance))
        default: throw Self.answersAnotherQuestion
        }
    }

    /// What all machines report of these clients. Blocks.
    func readReports(of clients: Set<ClientIdentity>) throws(Failure) -> [String: HostObservation] {
        var found: [String: HostObservation] = [:]
        var holdings = 0
        var first: [UInt8]?
        var last: StoreKey?
        let deadline = Clocks.bootMilliseconds() + 2 * service.patience
        func tooMany(_ count: Int, _ what: String) -> Failure {
            Failure(.storeAnswerUnexpected, at: .store, detail: "more than \(count) \(what)")
        }
        for _ in 0..<Self.mostPages {
            guard case .list(let page, let next) = try ask(.list(.report, from: first), until: deadline) else {
                throw Self.answersAnotherQuestion
            }
            for listed in page {
                // In the order of their keys, so that each page leads on.
                guard last.map({ $0 < listed.key }) ?? true else {
                    throw Failure(.storeServiceSilent, at: .store, detail: "its reports are not in order")
                }
                last = listed.key
                guard let machine = listed.key.machine, let report = Self.report(listed.entry, of: clients, own: nil)
                else { throw Self.answersAnotherQuestion }
                found[machine] = report
                holdings += report.report?.clients.count ?? 0
            }
            if found.count > Self.mostMachines { throw tooMany(Self.mostMachines, "machines report") }
            if holdings > Self.mostHoldings { throw tooMany(Self.mostHoldings, "clients in the machines' reports") }
            guard let next else { return found }
            guard first?.lexicographicallyPrecedes(next) ?? true else {
                throw Failure(.storeServiceSilent, at: .store, detail: "its reports are not in order")
            }
            first = next
        }
        throw tooMany(Self.mostPages, "pages of reports")
    }

    /// Removes a machine's report, unless it was changed at another revision. Blocks.
    func forgetReport(of machine: String, ifAt revision: Int64) throws(Failure) -> Outcome {
        guard case .removed = try ask(.remove(.report(of: machine), ifAt: revision)) else {
            throw Self.answersAnotherQuestion
        }
        return .reportForgotten
    }

    /// The place of a report holds this; nil for nothing, which a place that may not be read is taken for.
    private static func report(
        _ entry: StoreEntry, of clients: Set<ClientIdentity>, own instance: String?
    ) -> HostObservation? {
        switch entry {
        case .missing, .forbidden: return nil
        case .tooLong(let revision): return HostObservation(revision: revision, report: nil, isOwn: false)
        case .value(let bytes, let revision):
            let value = HostReportValue(bytes, of: clients)
            return HostObservation(
                revision: revision, report: value?.report, isOwn: instance != nil && value?.instance == instance)
        }
    }

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

    /// - Parameter deadline: in milliseconds of the boot clock; nil: ``NetworkService/patience`` from now.
    private func ask(_ question: StoreQuestion, until deadline: Int64? = nil) throws(Failure) -> StoreResult {
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

extension StorePlace {
    fileprivate var slot: StoreSlot { StoreSlot(team: team, client: client, keyDigest: key.description) }
}
