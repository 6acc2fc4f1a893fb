import AppleClientSecret
package import Failures
package import SignIn

/// Reads and puts secrets in one etcd. It has no clock, network or random source of its own.
///
/// The rules are:
/// - A question is asked of one member after the other until one answers, with 3 s for a request and 60 s for a login;
///   then there is a pause (see ``Members``), during which questions fail at once as the last one did.
/// - Slots are read in transactions of as many operations as etcd takes. One value that is too long, or one slot that
///   is forbidden, must not hide the others: then each half is read by itself, down to the one.
/// - A put that was not answered may have been done: it is put again by the same comparison, and when that finds the
///   token there, it was.
package struct StoreSession {
    private let configuration: StoreConfiguration
    private let password: () -> Result<String, RoleFailure>
    private let send: (Call) -> Result<HTTPAnswer, TransportFailure>
    private let now: () -> Int64
    private let sha256: ([UInt8]) -> [UInt8]
    private let random: (Int64) -> Int64
    private var members: Members
    /// Why the last question failed; a question in a pause fails likewise.
    private var last: RoleFailure?
    /// What to watch after the last read.
    package private(set) var watchable: Watchable?

    /// A request to one member.
    package struct Call: Sendable {
        /// `https://HOST:PORT`.
        package let endpoint: String
        package let request: EtcdRequest
        /// The `Authorization` header; nil without a login.
        package let token: String?
        /// In milliseconds, connecting included.
        package let timeout: Int
    }

    /// The watch that would report the next change.
    package struct Watchable: Hashable, Sendable {
        package let endpoint: String
        package let token: String?
        package let keys: [[UInt8]]
        package let request: EtcdRequest
        /// The store's revision that was read.
        package let revision: Int64
    }

    /// In milliseconds.
    package static let connecting = 3_000
    private static let requesting = 3_000
    private static let loggingIn = 60_000

    /// - Parameters:
    ///   - password: of the configured user, read for each login.
    ///   - now: milliseconds since boot.
    ///   - random: a random number below its argument.
    ///   - send: sends one request, and connects within ``connecting``.
    package init(
        _ configuration: StoreConfiguration, password: @escaping () -> Result<String, RoleFailure>,
        sha256: @escaping ([UInt8]) -> [UInt8], now: @escaping () -> Int64, random: @escaping (Int64) -> Int64,
        send: @escaping (Call) -> Result<HTTPAnswer, TransportFailure>
    ) {
        self.configuration = configuration
        self.password = password
        self.now = now
        self.sha256 = sha256
        self.random = random
        self.send = send
        members = Members(count: configuration.endpoints.count, at: now(), random: random)
    }

    /// Does what is asked.
    package mutating func answer(_ question: StoreQuestion) -> StoreResult {
        if case .read = question { watchable = nil }
        let pause = members.pause(at: now())
        if pause > 0, let last { return .failed(last.waiting(seconds: Int((pause + 999) / 1_000))) }
        members.begin(at: now())
        while true {
            do throws(Obstacle) {
                let result = try attempt(question)
                members.succeeded()
                last = nil
                return result
            } catch {
                switch error {
                case .member(let failure):
                    last = failure
                    if members.memberFailed(at: now(), random: random) { continue }
                case .login(let failure):
                    last = failure
                    members.loginFailed(at: now(), random: random)
                case .refusal(let failure), .write(let failure):
                    last = failure
                    members.refused(at: now(), random: random)
                // Even the answer to one key without its value is too long: this is no etcd.
                case .tooLong:
                    last = RoleFailure(.storeAnswerUnexpected, "it is longer than 1 MiB")
                    if members.memberFailed(at: now(), random: random) { continue }
                case .forbidden:
                    last = RoleFailure(.storeForbidden)
                    members.refused(at: now(), random: random)
                }
            }
            let pause = members.pause(at: now())
            let failure = last ?? RoleFailure(.storeUnreachable)
            return .failed(failure.waiting(seconds: Int((pause + 999) / 1_000)))
        }
    }

    /// Why there is no answer.
    private enum Obstacle: Error {
        /// This member failed; another one may answer.
        case member(RoleFailure)
        /// The login failed. Another attempt soon would load the members further: each login costs a tenth of a second.
        case login(RoleFailure)
        /// Every member would answer the same.
        case refusal(RoleFailure)
        /// The write was refused; reads are not affected.
        case write(RoleFailure)
        /// The answer is longer than is accepted; one to fewer slots may be short enough.
        case tooLong
        /// At least one of the slots may not be read.
        case forbidden
    }

    // MARK: Questions

    private mutating func attempt(_ question: StoreQuestion) throws(Obstacle) -> StoreResult {
        switch question {
        case .read(let slots):
            var findings: [StoreFinding] = []
            var rollouts: [Int: RolloutFinding] = [:]
            var revision: Int64?
            while findings.count < slots.count {
                let start = findings.count
                let page = slots[start..<min(start + EtcdRequest.mostOperations / 2, slots.count)]
                // A secret and its rollout are read in one transaction, so that they belong together.
                let secrets = page.map { $0.key(below: configuration.prefix) }
                let (found, at) = try read(secrets + page.map { $0.rolloutKey(below: configuration.prefix) })
                findings += found[..<page.count].map(finding)
                for (number, found) in found[page.count...].enumerated() { rollouts[start + number] = rollout(found) }
                revision = min(revision ?? at, at)
            }
            let isAllReadable = !findings.contains(.forbidden) && !rollouts.values.contains(.forbidden)
            if isAllReadable, let revision { watch(slots, after: revision) }
            return .read(findings, rollouts: rollouts)
        case .put(let slot, let token, let revision): return try put(token, into: slot, ifAt: revision)
        case .putRollout(let rollout, let slot, let revision, let secret):
            return try put(rollout, of: slot, ifAt: revision, with: secret)
        case .putReport(let value, let machine, let revision):
            return try write(at: machine) { session throws(Obstacle) in
                try session.put(value, of: machine, ifAt: revision)
            }
        case .readReports(let from):
            return try write(at: nil) { session throws(Obstacle) in try session.readReports(from: from) }
        case .forgetReport(let machine, let revision):
            return try write(at: machine) { session throws(Obstacle) in
                _ = try session.ask(
                    .delete(StoredReport.key(of: machine, below: session.configuration.prefix), ifAt: revision))
                return .reportForgotten
            }
        }
    }

    /// Carries out a request about reports. Where etcd forbids it, only that request fails: secrets are read all the same.
    private mutating func write(
        at machine: String?, _ body: (inout StoreSession) throws(Obstacle) -> StoreResult
    ) throws(Obstacle) -> StoreResult {
        do throws(Obstacle) {
            return try body(&self)
        } catch {
            switch error {
            case .forbidden:
                let place = machine.map { "the report of \(Printable.name($0))" } ?? "the reports"
                return .failed(RoleFailure(.storeForbidden, place))
            case .write(let failure): return .failed(failure)
            default: throw error
            }
        }
    }

    private mutating func put(_ value: String, of machine: String, ifAt revision: Int64) throws(Obstacle) -> StoreResult
    {
        let bytes = Array(value.utf8)
        guard bytes.count <= StoreValue.longest else { return .failed(RoleFailure(.storeSecretTooLong)) }
        let key = StoredReport.key(of: machine, below: configuration.prefix)
        do throws(Obstacle) {
            let answer = try ask(.put(bytes, at: key, ifAt: revision))
            switch EtcdAnswer.put(answer, at: [key]) {
            case nil: throw Self.unexpected(answer)
            case .done(let revision): return .put(revision: revision)
            case .found(let entries):
                guard let entry = entries[0] else { return .reportFound(nil) }
                // An earlier attempt put it, and its answer was lost.
                if entry.value == bytes { return .put(revision: entry.revision) }
                return .reportFound(StoredReport(machine: machine, entry))
            }
        } catch {
            guard case .tooLong = error else { throw error }
            let answer = try ask(.read([key], withoutValues: true))
            guard let (entries, _) = EtcdAnswer.entries(answer, of: [key]) else { throw Self.unexpected(answer) }
            return .reportFound(entries[0].map { StoredReport(machine: machine, value: nil, revision: $0.revision) })
        }
    }

    /// The page size of the read that is going on.
    private var pageLimit = StoreResult.mostReports

    private mutating func readReports(from first: [UInt8]?) throws(Obstacle) -> StoreResult {
        let keys = StoredReport.keys(below: configuration.prefix)
        if first == nil { pageLimit = StoreResult.mostReports }
        let first = first.flatMap { $0.starts(with: keys.first) ? $0 : nil } ?? keys.first
        while true {
            let answer: HTTPAnswer
            do throws(Obstacle) {
                answer = try ask(.page(from: first, to: keys.end, limit: pageLimit))
            } catch {
                guard case .tooLong = error else { throw error }
                // The pages after this one are likely to be as long.
                if pageLimit > 1 {
                    pageLimit = max(pageLimit / 8, 1)
                    continue
                }
                // One value alone is too long: only its key is read. The values after it may be short again.
                pageLimit = StoreResult.mostReports
                let answer = try ask(.page(from: first, to: keys.end, limit: 1, withoutValues: true))
                guard let (entries, hasMore) = EtcdAnswer.page(answer) else { throw Self.unexpected(answer) }
                return reports(
                    entries.map { ($0.key, StoredReport(machine: "", value: nil, revision: $0.entry.revision)) },
                    hasMore)
            }
            guard let (entries, hasMore) = EtcdAnswer.page(answer) else { throw Self.unexpected(answer) }
            return reports(entries.map { ($0.key, StoredReport(machine: "", $0.entry)) }, hasMore)
        }
    }

    private func reports(_ page: [(key: [UInt8], report: StoredReport)], _ hasMore: Bool) -> StoreResult {
        let reports = page.compactMap { key, report in
            StoredReport.machine(of: key, below: configuration.prefix).map {
                StoredReport(machine: $0, value: report.value, revision: report.revision)
            }
        }
        return .reports(reports, next: hasMore ? page.last.map { $0.key + [0] } : nil)
    }

    /// What a key holds.
    private enum Found {
        case entry(EtcdAnswer.Entry?)
        case tooLong(revision: Int64)
        case forbidden
    }

    /// What the keys hold, and the store's revision (`Int64.max` where none of them may be read).
    private mutating func read(_ keys: [[UInt8]]) throws(Obstacle) -> ([Found], revision: Int64) {
        do throws(Obstacle) {
            let answer = try ask(.read(keys))
            guard let (entries, revision) = EtcdAnswer.entries(answer, of: keys) else {
                throw Self.unexpected(answer)
            }
            return (entries.map(Found.entry), revision)
        } catch {
            switch error {
            case .tooLong where keys.count == 1:
                let answer = try ask(.read(keys, withoutValues: true))
                guard let (entries, revision) = EtcdAnswer.entries(answer, of: keys) else {
                    throw Self.unexpected(answer)
                }
                return (entries.map { $0.map { .tooLong(revision: $0.revision) } ?? .entry(nil) }, revision)
            case .forbidden where keys.count == 1: return ([.forbidden], .max)
            case .tooLong, .forbidden:
                let (first, one) = try read(Array(keys[..<(keys.count / 2)]))
                let (second, other) = try read(Array(keys[(keys.count / 2)...]))
                return (first + second, min(one, other))
            default: throw error
            }
        }
    }

    private mutating func put(_ token: Token, into slot: StoreSlot, ifAt revision: Int64) throws(Obstacle)
        -> StoreResult
    {
        guard let value = StoreValue.encode(token) else { return .failed(RoleFailure(.storeSecretTooLong)) }
        let key = slot.key(below: configuration.prefix)
        let found: StoreFinding
        do throws(Obstacle) {
            let answer = try ask(.put(value, at: key, ifAt: revision))
            switch EtcdAnswer.put(answer, at: [key]) {
            case nil: throw Self.unexpected(answer)
            case .done(let revision): return .put(revision: revision)
            case .found(let entries): found = finding(.entry(entries[0]))
            }
        } catch {
            switch error {
            case .tooLong: found = finding(try read([key]).0[0])
            case .forbidden: return .failed(RoleFailure(.storeForbidden, slot.description))
            case .write(let failure): return .failed(failure)
            default: throw error
            }
        }
        if case .token(_, let revision) = found, found == .token(token, revision: revision) {
            return .put(revision: revision)
        }
        return .conflict(found)
    }

    private mutating func put(
        _ rollout: StoredRollout, of slot: StoreSlot, ifAt revision: Int64, with secret: StoreQuestion.TokenPut?
    ) throws(Obstacle) -> StoreResult {
        var changes = [
            EtcdRequest.Change(
                key: slot.rolloutKey(below: configuration.prefix), value: rollout.jsonText.bytes, revision: revision)
        ]
        if let secret {
            guard let value = StoreValue.encode(secret.token) else { return .failed(RoleFailure(.storeSecretTooLong)) }
            changes.append(
                EtcdRequest.Change(
                    key: slot.key(below: configuration.prefix), value: value, revision: secret.revision))
        }
        let keys = changes.map(\.key)
        let found: [Found]
        do throws(Obstacle) {
            let answer = try ask(.put(changes))
            switch EtcdAnswer.put(answer, at: keys) {
            case nil: throw Self.unexpected(answer)
            case .done(let revision): return .put(revision: revision)
            case .found(let entries):
                // An earlier attempt put both in one transaction, and its answer was lost.
                if let revision = entries[0]?.revision, entries.allSatisfy({ $0?.revision == revision }),
                    zip(entries, changes).allSatisfy({ $0?.value == $1.value })
                {
                    return .put(revision: revision)
                }
                found = entries.map(Found.entry)
            }
        } catch {
            switch error {
            case .tooLong: found = try read(keys).0
            case .forbidden: return .failed(RoleFailure(.storeForbidden, "the rollout of \(slot.description)"))
            case .write(let failure): return .failed(failure)
            default: throw error
            }
        }
        return .rolloutFound(self.rollout(found[0]), secret: secret == nil ? nil : finding(found[1]))
    }

    private mutating func watch(_ slots: [StoreSlot], after revision: Int64) {
        let keys = slots.flatMap {
            [$0.key(below: configuration.prefix), $0.rolloutKey(below: configuration.prefix)]
        }
        watchable = Watchable(
            endpoint: configuration.endpoints[members.current], token: members.token, keys: keys,
            request: .watch(keys, from: revision + 1), revision: revision)
    }

    private func finding(_ found: Found) -> StoreFinding {
        switch found {
        case .entry(let entry):
            entry.map { StoreValue.decode($0.value, revision: $0.revision, sha256: sha256) } ?? .missing
        case .tooLong(let revision): .flawed(.tooLong, revision: revision)
        case .forbidden: .forbidden
        }
    }

    private func rollout(_ found: Found) -> RolloutFinding? {
        switch found {
        case .entry(let entry): entry.map { StoredRollout.decode($0.value, revision: $0.revision) }
        case .tooLong(let revision): .flawed(revision: revision)
        case .forbidden: .forbidden
        }
    }

    // MARK: Requests

    private mutating func ask(_ request: EtcdRequest) throws(Obstacle) -> HTTPAnswer {
        var hasLoggedIn = false
        while true {
            if let user = configuration.user, members.token == nil {
                try logIn(user)
                hasLoggedIn = true
            }
            switch send(call(request, timeout: Self.requesting)) {
            case .failure(let failure) where failure.kind == .answerTooLong: throw .tooLong
            case .failure(let failure): throw Self.obstacle(failure)
            case .success(let answer):
                if answer.status == 200 { return answer }
                switch EtcdError(answer) {
                case .tokenInvalid where configuration.user != nil && !hasLoggedIn: members.forgetLogin()
                case .forbidden: throw .forbidden
                case let error: throw obstacle(error, answer)
                }
            }
        }
    }

    private mutating func logIn(_ user: String) throws(Obstacle) {
        let password: String
        do throws(RoleFailure) {
            password = try self.password().get()
        } catch {
            throw .refusal(error)
        }
        switch send(call(.logIn(user: user, password: password), timeout: Self.loggingIn)) {
        // The login has not reached the member.
        case .failure(let failure) where !failure.mayBeSent: throw Self.obstacle(failure)
        case .failure(let failure):
            let failure = RoleFailure(failure)
            throw failure.code == .storeTimedOut ? .login(failure) : .member(failure)
        case .success(let answer):
            guard answer.status == 200 else {
                if EtcdError(answer) == .unavailable {
                    throw .login(RoleFailure(.storeUnavailable, detail(of: answer)))
                }
                throw obstacle(EtcdError(answer), answer)
            }
            guard let token = EtcdAnswer.token(answer) else {
                throw .member(RoleFailure(.storeAnswerUnexpected, "there is no token in the answer to the login"))
            }
            members.loggedIn(token)
        }
    }

    private func call(_ request: EtcdRequest, timeout: Int) -> Call {
        Call(
            endpoint: configuration.endpoints[members.current], request: request, token: members.token,
            timeout: timeout)
    }

    private static func obstacle(_ failure: TransportFailure) -> Obstacle {
        let failure = RoleFailure(failure)
        return failure.code == .storeFileUnusable ? .refusal(failure) : .member(failure)
    }

    private func obstacle(_ error: EtcdError, _ answer: HTTPAnswer) -> Obstacle {
        let detail = detail(of: answer)
        return switch error {
        case .loginRefused: .login(RoleFailure(.storeCredentialsRefused, detail))
        case .tokenInvalid, .userMismatch: .refusal(RoleFailure(.storeCredentialsRefused, detail))
        case .certificateNamed:
            .refusal(RoleFailure(.storeCertificateRefused, "it has a CN, which the gateway does not take"))
        case .forbidden: .forbidden
        case .outOfSpace: .write(RoleFailure(.storeOutOfSpace, detail))
        case .unavailable: .member(RoleFailure(.storeUnavailable, detail))
        case .unexpected: .member(RoleFailure(.storeAnswerUnexpected, detail))
        }
    }

    private static func unexpected(_ answer: HTTPAnswer) -> Obstacle {
        .member(
            RoleFailure(.storeAnswerUnexpected, "it answered \(answer.status) with something else than was asked for"))
    }

    /// The status, and what etcd said. Only its own words: what answers there may be something that quotes what it was
    /// sent.
    private func detail(of answer: HTTPAnswer) -> String {
        let words = (try? JSONValue(answer.body, duplicates: .lastCounts))?["message"]?.text ?? ""
        guard words.hasPrefix("etcdserver: ") else { return "it answered \(answer.status)" }
        let hidden = HiddenTexts([members.token, try? password().get()].compactMap { $0 })
        return "it answered \(answer.status): \(hidden.words(words))"
    }
}
