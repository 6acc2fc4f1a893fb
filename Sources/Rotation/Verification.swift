import AppleClientSecret
internal import Failures

/// Whether Apple accepts the new secrets of clients with `verify: true`.
///
/// - A new secret is a candidate until Apple has accepted it. While the client has an unexpired secret to keep, the
///   candidate is not published; with none, it is in force at once and Apple is asked afterwards.
/// - A single refusal may be a stray one: the second, a minute later, counts. A refused candidate is asked about again,
///   because what is wrong may be put right at Apple.
/// - Where nothing is known of a candidate, it is in force before the secret to keep becomes critical; a refused one,
///   once that has expired.
/// - One question runs at a time, and six begin in a minute at most, for the client first that was asked about longest
///   ago.
struct Verification: Sendable {
    /// Of the clients with `verify: true`, and of those with a candidate.
    private var states: [ClientName: State] = [:]
    /// The question that runs.
    private var running: JobID?
    /// When the last questions began, ``limit`` at most.
    private var asked: [BootTime] = []

    /// Questions in a minute, for all clients together: Apple publishes no limit.
    private static let limit = 6
    private static let minute: Seconds = 60
    /// How long after a secret was minted the verdict on it is waited for by an action that has other clients as well:
    /// less than the half minute after which operators are notified that these were not delivered.
    private static let patience: Seconds = 20
    /// How long before the secret to keep becomes critical an untried candidate replaces it, at most: publishing takes a
    /// moment.
    private static let publishing: Seconds = 60

    private struct State: Hashable, Sendable {
        /// The newest secret, if it is to be accepted by Apple and was not yet; it may be in force already.
        var candidate: SecretInfo?
        /// How often Apple has refused ``candidate``.
        var refusals = 0
        var refusal: Failure?
        /// When Apple may be asked a second time.
        var notBefore: BootTime?
        var askedBy = JobID(number: 0)
        /// Why Apple refused a secret in force that ``candidate`` was minted to replace, until it has accepted this one.
        var earlierRefusal: Failure?
        /// Until when actions that the client shares wait for the verdict.
        var awaitedUntil: BootTime?
        /// Whether the secret that is being minted is not to be tried.
        var isSkipped = false
        var view: VerificationView?
    }

    // MARK: What is

    /// The newest secret of a client, if Apple has not accepted it yet.
    func candidate(_ client: ClientName) -> SecretInfo? { states[client]?.candidate }

    var allCandidates: some Sequence<SecretInfo> { states.values.lazy.compactMap(\.candidate) }

    /// Why the newest secret counts as refused; nil while it does not.
    func refusal(of client: ClientName) -> Failure? {
        states[client].flatMap { $0.refusals > 1 ? $0.refusal : nil }
    }

    /// Why Apple refused a secret in force that has been replaced by one that it has not accepted yet.
    fileprivate func earlierRefusal(of client: ClientName) -> Failure? { states[client]?.earlierRefusal }

    func view(of client: ClientName) -> VerificationView? { states[client]?.view }

    /// Whether Apple's first answer about a candidate, or the second after a refusal, is still to come.
    func isUndecided(_ client: ClientName) -> Bool {
        guard let state = states[client], state.candidate != nil else { return false }
        return state.refusals == 1 || state.view?.verdict == .pending
    }

    /// Whether a shared action is to wait for the verdict on a candidate, because it has to run for that one as well.
    fileprivate func isAwaited(_ client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        guard isUndecided(client), let end = states[client]?.awaitedUntil else { return false }
        return !deadlines.reached(end)
    }

    /// The clients with a candidate, the one first that was asked about longest ago.
    fileprivate var open: [ClientName] {
        states.filter { $0.value.candidate != nil }.sorted { ($0.value.askedBy, $0.key) < ($1.value.askedBy, $1.key) }
            .map(\.key)
    }

    /// Whether a question may begin.
    fileprivate func mayAsk(_ deadlines: inout Deadlines) -> Bool {
        guard running == nil else { return false }
        return asked.count < Self.limit || deadlines.reached(asked[0] + Self.minute)
    }

    fileprivate func mayAsk(about client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        states[client]?.notBefore.map { deadlines.reached($0) } ?? true
    }

    /// When an untried candidate replaces the secret to keep.
    fileprivate static func latest(_ kept: SecretInfo, _ entry: ClientConfiguration) -> WallTime {
        let critical = entry.criticalRemainder
        return kept.expiresAt - critical - min(publishing, Seconds(critical.count / 10))
    }

    // MARK: What happens

    mutating func adopt(_ index: Index) {
        states = index.subjects.values.reduce(into: [:]) { kept, client in
            // What is received was accepted where it was minted.
            let state = client.entry.source == nil ? states[client.name] : nil
            if client.entry.verify || state?.candidate != nil { kept[client.name] = state ?? State() }
        }
    }

    /// Takes what a client's record says, unless a newer secret was minted meanwhile.
    mutating func recall(_ record: Record, _ client: ClientName) {
        guard let candidate = record.candidate, states[client]?.candidate == nil, states[client]?.view == nil
        else { return }
        set(candidate, client)
        guard let detail = record.refusal else { return }
        states[client]?.refusals = 2
        states[client]?.refusal = Failure(.refusedByApple, at: .client(client), detail: detail)
        states[client]?.view?.verdict = .refused
        states[client]?.view?.code = detail
    }

    /// Has the next secret of a client not be tried, or be tried after all.
    mutating func skip(_ client: ClientName, _ isSkipped: Bool) {
        states[client]?.isSkipped = isSkipped
    }

    /// Records a new secret; nil: one that is not tried.
    fileprivate mutating func set(
        _ candidate: SecretInfo?, _ client: ClientName, replacing refusal: Failure? = nil, at now: Now? = nil
    ) {
        guard candidate != nil || states[client] != nil else { return }
        states[client] = State(
            candidate: candidate, earlierRefusal: refusal, awaitedUntil: now.map { $0.boot + Self.patience },
            view: candidate.map { VerificationView(fingerprint: $0.fingerprint, verdict: .pending) })
    }

    /// Forgets a candidate that is not tried any more.
    fileprivate mutating func drop(_ client: ClientName) { set(nil, client) }

    /// Forgets a client that has no `verify: true` any more.
    fileprivate mutating func forget(_ client: ClientName) { states[client] = nil }

    /// Whether the secret that was just minted is not to be tried.
    fileprivate func isSkipped(_ client: ClientName) -> Bool { states[client]?.isSkipped == true }

    fileprivate mutating func began(_ client: ClientName, _ job: JobID, at now: Now) {
        running = job
        asked = (asked + [now.boot]).suffix(Self.limit)
        states[client]?.askedBy = job
        states[client]?.view?.askedAt = now.wall
    }

    /// Records that a job has ended, whatever came of it.
    mutating func ended(_ job: JobID) {
        if running == job { running = nil }
    }

    fileprivate mutating func accepted(_ client: ClientName) {
        states[client]?.candidate = nil
        states[client]?.refusals = 0
        states[client]?.refusal = nil
        states[client]?.earlierRefusal = nil
        states[client]?.view?.verdict = .accepted
        states[client]?.view?.code = nil
    }

    /// Records that Apple did not accept the candidate. Returns the failure that this is; nil after a first refusal.
    fileprivate mutating func failed(_ client: ClientName, _ failure: Failure, at now: Now) -> Failure? {
        guard failure.code == .refusedByApple else {
            // What Apple has refused twice stays refused until it is accepted.
            if states[client]?.refusals ?? 0 < 2 { states[client]?.view?.verdict = .unknown }
            return refusal(of: client) ?? states[client]?.earlierRefusal ?? failure
        }
        states[client]?.refusals += 1
        states[client]?.refusal = failure
        states[client]?.view?.code = failure.detail
        guard let refusal = refusal(of: client) else {
            states[client]?.notBefore = now.boot + Self.minute
            return nil
        }
        states[client]?.view?.verdict = .refused
        states[client]?.notBefore = nil
        return refusal
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if states.keys.contains(where: { configuration.clients[$0] == nil }) {
            broken.append("verdicts on other clients")
        }
        if configuration.clients.contains(where: { $0.value.verify && states[$0.key] == nil }) {
            broken.append("no verdicts on a client")
        }
        for (name, state) in states where state.candidate == nil && (state.refusals > 0 || state.earlierRefusal != nil)
        {
            broken.append("\(name) has no candidate that was refused")
        }
        if running.map({ $0 >= next }) == true { broken.append("a question runs that never began") }
        if asked.count > Self.limit { broken.append("more questions are remembered than may be asked") }
        return broken
    }
}

extension Rotation {
    // MARK: What happens

    /// Records a secret that was just minted: a candidate while there is another one to keep. Returns whether it is in
    /// force at once.
    mutating func noteMinted(_ secret: SecretInfo, _ client: Subject, at now: Now) -> Bool {
        let isTried = client.entry.verify && !verification.isSkipped(client.name)
        let isInForce = !isTried || secretToKeep(client, at: now) == nil
        if isTried {
            verification.set(secret, client.name, replacing: refusalInForce(client.name), at: now)
            jobs.resetBackoff(of: .verification(client.name), to: now.boot)
        } else {
            verification.drop(client.name)
            recover(.verification(client.name))
        }
        return isInForce
    }

    /// Forgets a client's candidate, because another machine's newer secret takes its place.
    mutating func supersede(_ client: Subject) {
        verification.drop(client.name)
        recover(.verification(client.name))
    }

    /// Records Apple's verdict. Returns the failure that it is; nil where it is none, or one about an older secret.
    mutating func verificationFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) -> Failure? {
        guard case .verify(let client, let secret) = job.work, verification.candidate(client) == secret else {
            return nil
        }
        switch result {
        case .success(.accepted):
            verification.accepted(client)
            renewal.choose(secret, client)
            events.append(.accepted(client, secret))
        case .success(let outcome): unexpected(outcome, of: job)
        case .failure(let failure):
            if let failure = verification.failed(client, failure, at: now) { return failure }
            // Apple has answered, so an earlier failure to ask it no longer matters.
            if verification.earlierRefusal(of: client) == nil { recover(job.resource) }
        }
        return nil
    }

    // MARK: What is

    /// The secret that a client goes on using while Apple has not accepted a new one; nil where there is none. One of
    /// another key or key id may be accepted, whatever the configuration says now.
    private func secretToKeep(_ client: Subject, _ deadlines: inout Deadlines) -> SecretInfo? {
        guard let current = renewal[client.name]?.current, refusal(of: current, for: client, &deadlines) == nil else {
            return nil
        }
        let isRefused = verification.candidate(client.name) == current && verification.refusal(of: client.name) != nil
        return isRefused ? nil : current
    }

    private func secretToKeep(_ client: Subject, at now: Now) -> SecretInfo? {
        var deadlines = Deadlines(now: now)
        return secretToKeep(client, &deadlines)
    }

    /// A client's candidate that is not in force yet.
    func heldBack(_ client: ClientName) -> SecretInfo? {
        verification.candidate(client).flatMap { $0 == renewal[client]?.current ? nil : $0 }
    }

    /// Why the secret in force counts as refused; nil while it does not. That of a refused one is passed on to its
    /// successor, until Apple has accepted that: the cause is then gone, and not before.
    func refusalInForce(_ client: ClientName) -> Failure? {
        (heldBack(client) == nil ? verification.refusal(of: client) : nil) ?? verification.earlierRefusal(of: client)
    }

    /// Whether an action that several clients share is to wait for Apple's verdict on the new secret of one of them.
    func isVerdictAwaited(_ client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        heldBack(client) != nil && verification.isAwaited(client, &deadlines)
    }

    /// Whether a client whose secret waits for Apple's verdict is still to be answered about.
    var awaitsVerdict: Bool {
        index.names.contains { verification.isUndecided($0) && heldBack($0) != nil }
    }

    // MARK: What is wanted

    /// Drops a candidate that is no longer usable, and puts one in force that can wait no longer.
    mutating func planCandidate(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard let candidate = verification.candidate(name), isKnown(client) else { return }
        // By a distrusted clock nothing is replaced.
        guard clock.failure == nil else { return }
        // When a candidate's validity begins or ends is no reason to wake once it is forgotten.
        var waiting = deadlines
        let isHeldBack = heldBack(name) != nil
        // What Apple says of a secret in force matters until it is replaced, also if another key is configured meanwhile.
        let isUsable =
            isHeldBack || !client.entry.verify
            ? fits(candidate, client, &waiting) : refusal(of: candidate, for: client, &waiting) == nil
        guard isUsable else {
            verification.drop(name)
            return recover(.verification(name))
        }
        guard client.entry.verify else {
            verification.forget(name)
            recover(.verification(name))
            if isHeldBack { renewal.choose(candidate, name) }
            return
        }
        deadlines = waiting
        guard isHeldBack else { return }
        // When the secret to keep would have ended is no reason to wake once it is replaced.
        if let kept = secretToKeep(client, &waiting) {
            guard verification.refusal(of: name) == nil, waiting.reached(Verification.latest(kept, client.entry)) else {
                deadlines = waiting
                return
            }
        }
        renewal.choose(candidate, name)
        events.append(.publishedUnverified(name, candidate))
    }

    /// Asks Apple about the next candidate that is kept in the state directory.
    mutating func planQuestions(_ deadlines: inout Deadlines) {
        guard !jobs.isStopping, verification.mayAsk(&deadlines) else { return }
        for name in verification.open {
            guard let candidate = verification.candidate(name), index.subjects[name]?.entry.verify == true,
                records.kept(name)?.candidate == candidate || jobs.attempts[.record(name)] != nil
                    || jobs.isOverdue(.record(name)),
                verification.mayAsk(about: name, &deadlines)
            else { continue }
            let job = jobs.next
            if start(.verify(name, candidate), on: .verification(name), &deadlines) {
                // The end of this question has the others planned, not their own moments.
                deadlines = Deadlines(now: deadlines.now)
                return verification.began(name, job, at: deadlines.now)
            }
        }
    }
}
