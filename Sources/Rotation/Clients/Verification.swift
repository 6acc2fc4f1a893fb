import AppleClientSecret
internal import Failures
import Model

/// Apple's verdict on a client's newest secret.
struct Verification: Sendable {
    /// Apple's answer about a secret.
    private enum Answer {
        /// Nothing yet.
        case none
        /// Apple was not reached, or answered something else. It may have refused the secret once before.
        case unknown(refusedOnce: Failure?)
        /// Apple has refused it once, which may be a stray answer. It may be asked a second time from this moment.
        case refusedOnce(Failure, again: BootTime)
        /// Apple has refused it twice, the last time so. It stays refused until it is accepted.
        case refused(Failure)
        case accepted
    }

    /// The newest secret that Apple is to accept.
    private let secret: SecretInfo
    private var answer = Answer.none
    private var askedAt: WallTime?
    /// The last job that asked.
    private(set) var askedBy = JobID.beforeAll
    /// Why Apple refused a current secret that ``candidate`` was minted to replace, until it has accepted this one.
    private(set) var earlierRefusal: Failure?
    /// Until when shared actions of the client wait for the verdict.
    private var awaitedUntil: BootTime?

    /// How long before the second request.
    private static let pause: Seconds = 60
    /// How long after minting an action that has other clients as well waits for the verdict. This is less than the half minute
    /// after which operators are notified of undelivered secrets.
    private static let verdictWait: Seconds = 20

    /// - Parameters:
    ///   - candidate: a new secret.
    ///   - refusal: why Apple refused the current one, which it replaces.
    ///   - now: when it was minted; nil for one that was minted before the start.
    init(_ candidate: SecretInfo, replacing refusal: Failure? = nil, at now: Now? = nil) {
        secret = candidate
        earlierRefusal = refusal
        awaitedUntil = now.map { $0.boot + Self.verdictWait }
    }

    // MARK: State

    /// The newest secret, if Apple has to accept it and has not; it may be the current one already.
    var candidate: SecretInfo? { if case .accepted = answer { nil } else { secret } }

    /// Why the newest secret counts as refused; nil while it does not. A single refusal may be a stray one.
    var refusal: Failure? { if case .refused(let failure) = answer { failure } else { nil } }

    /// Whether Apple's first answer about a candidate, or the second after a refusal, is still missing.
    var isUndecided: Bool {
        switch answer {
        case .none, .refusedOnce, .unknown(refusedOnce: _?): true
        case .unknown(refusedOnce: nil), .refused, .accepted: false
        }
    }

    /// Whether Apple has neither answered about it nor failed to be asked.
    var isUnanswered: Bool { if case .none = answer { true } else { false } }

    /// Whether a shared action waits for the verdict on a candidate, because it has to run for that one as well.
    func isAwaited(_ timer: inout WakeTimer) -> Bool {
        guard isUndecided, let awaitedUntil else { return false }
        return !timer.reached(awaitedUntil)
    }

    /// Whether Apple may be asked now.
    func mayAsk(_ timer: inout WakeTimer) -> Bool {
        if case .refusedOnce(_, let again) = answer { timer.reached(again) } else { true }
    }

    /// As status and metrics show it.
    var view: VerificationView {
        let (verdict, refusal): (VerificationView.Verdict, Failure?) =
            switch answer {
            case .none: (.pending, nil)
            case .unknown(let refusal): (.unknown, refusal)
            case .refusedOnce(let refusal, _): (.pending, refusal)
            case .refused(let refusal): (.refused, refusal)
            case .accepted: (.accepted, nil)
            }
        return VerificationView(
            fingerprint: secret.fingerprint, verdict: verdict, askedAt: askedAt, code: refusal?.detail)
    }

    // MARK: Events

    /// Adopts Apple's answer from before the start, when it refused the candidate twice.
    mutating func recall(refusal detail: String, of client: ClientName) {
        answer = .refused(Failure(.refusedByApple, at: .client(client), detail: detail))
    }

    mutating func began(_ job: JobID, at now: Now) {
        askedBy = job
        askedAt = now.wall
    }

    mutating func accepted() {
        answer = .accepted
        earlierRefusal = nil
    }

    /// Records that Apple did not accept the candidate. Returns the failure that this is; nil after a first refusal.
    mutating func failed(_ failure: Failure, at now: Now) -> Failure? {
        guard failure.code == .refusedByApple else {
            switch answer {
            case .none: answer = .unknown(refusedOnce: nil)
            case .refusedOnce(let refusal, _): answer = .unknown(refusedOnce: refusal)
            case .unknown, .refused, .accepted: break
            }
            return refusal ?? earlierRefusal ?? failure
        }
        switch answer {
        case .none, .unknown(refusedOnce: nil), .accepted:
            answer = .refusedOnce(failure, again: now.boot + Self.pause)
            return nil
        case .unknown, .refusedOnce, .refused:
            answer = .refused(failure)
            return failure
        }
    }
}

/// How new secrets of clients with `verify: true` are tried.
///
/// - A new secret is a candidate until Apple has accepted it. While the client has an unexpired secret to keep, the
///   candidate is not published; with none, it becomes the current one at once and Apple is asked afterwards.
/// - The second refusal, a minute after the first, counts. Apple is asked again about a refused candidate, because the problem
///   may be fixed at Apple.
/// - A candidate without a verdict becomes the current secret before the one to keep becomes critical. A refused candidate
///   becomes the current one when that has expired.
/// - One request runs at a time. The client about which Apple was asked longest ago comes first.
extension Rotation {
    // MARK: Events

    /// Adopts the candidate in a client's record, unless a newer secret was minted since.
    mutating func recallCandidate(_ record: Record, _ client: ConfiguredClient) {
        guard let candidate = record.candidate, clients[client].verification == nil else { return }
        clients[client].verification = Verification(candidate)
        if let detail = record.refusal { clients[client].verification?.recall(refusal: detail, of: client.name) }
    }

    /// Records a secret that was just minted: a candidate while there is another one to keep. Returns whether it is
    /// current at once.
    mutating func noteMinted(_ secret: SecretInfo, _ client: ConfiguredClient, at now: Now) -> Bool {
        let isTried = client.entry.verify && !clients[client].secret.skipsVerification
        let isCurrent = !isTried || WakeTimer.peek(at: now) { secretToKeep(client, &$0) } == nil
        if isTried {
            clients[client].verification = Verification(secret, replacing: currentRefusal(client), at: now)
            jobs.retry(.verification(client.name), at: now)
        } else {
            dropCandidate(client)
        }
        return isCurrent
    }

    /// Forgets a candidate that is no longer tried.
    mutating func dropCandidate(_ client: ConfiguredClient) {
        clients[client].verification = nil
        recover(.verification(client.name))
    }

    /// Records Apple's verdict. Returns the failure that it is; nil if it is none, or one about an older secret.
    mutating func verificationFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) -> Failure? {
        guard case .verify(let name, let secret) = job.work, let client = index[name],
            clients[client].verification?.candidate == secret
        else { return nil }
        switch result {
        case .success(.accepted):
            clients[client].verification?.accepted()
            take(secret, .accepted, for: client, at: now)
        case .success(let outcome): unexpected(outcome, of: job)
        case .failure(let failure):
            if let failure = clients[client].verification?.failed(failure, at: now) { return failure }
            // Apple has answered, so an earlier failure to ask it no longer matters.
            if clients[client].verification?.earlierRefusal == nil { recover(job.resource) }
        }
        return nil
    }

    // MARK: State

    /// The secret that a client keeps using until Apple has accepted a new one; nil if there is none. Apple may accept one of
    /// another key or key id, whatever the configuration is now.
    private func secretToKeep(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> SecretInfo? {
        guard let current = clients[client].secret.current, refusal(of: current, for: client, &timer) == nil else {
            return nil
        }
        let verification = clients[client].verification
        return verification?.candidate == current && verification?.refusal != nil ? nil : current
    }

    /// A client's candidate that is not the current secret yet.
    func pendingCandidate(_ client: ConfiguredClient) -> SecretInfo? {
        guard let candidate = clients[client].verification?.candidate, candidate != clients[client].secret.current
        else {
            return nil
        }
        return candidate
    }

    /// Why Apple refuses the current secret; nil while it does not. When a replacement is minted, the refusal passes to its
    /// verification. It stays until Apple accepts the replacement: only this proves that the cause is gone.
    func currentRefusal(_ client: ConfiguredClient) -> Failure? {
        (pendingCandidate(client) == nil ? clients[client].verification?.refusal : nil)
            ?? clients[client].verification?.earlierRefusal
    }

    /// Whether a shared action waits for Apple's verdict on the new secret of one of its clients.
    func isVerdictAwaited(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        pendingCandidate(client) != nil && clients[client].verification?.isAwaited(&timer) == true
    }

    /// Whether Apple's answer about a client whose secret waits for it is missing.
    var awaitsVerdict: Bool {
        index.all.contains { clients[$0].verification?.isUndecided == true && pendingCandidate($0) != nil }
    }

    // MARK: Plan

    /// Drops a candidate that is no longer usable. Makes one current that cannot wait any longer.
    ///
    /// - Precondition: everything is known that decides about it (``isKnown(_:)``).
    mutating func planCandidate(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        guard let candidate = clients[client].verification?.candidate else { return }
        // By a distrusted clock nothing is replaced.
        guard clock.failure == nil else { return }
        let isHeldBack = pendingCandidate(client) != nil
        guard client.entry.verify else {
            let isUsable = WakeTimer.peek(at: timer.now) { fits(candidate, client, &$0) }
            dropCandidate(client)
            if isHeldBack, isUsable { take(candidate, .minted, for: client, at: timer.now) }
            return
        }
        // Apple's verdict on the current secret matters until it is replaced, also if another key is configured meanwhile.
        let isUnusable = timer.met {
            isHeldBack ? !fits(candidate, client, &$0) : refusal(of: candidate, for: client, &$0) != nil
        }
        if isUnusable { return dropCandidate(client) }
        guard isHeldBack, timer.met({ isKeptNoLonger(client, &$0) }) else { return }
        take(candidate, .unverified, for: client, at: timer.now)
    }

    /// Whether no secret is left for use until Apple has answered about the candidate.
    private func isKeptNoLonger(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        guard let kept = secretToKeep(client, &timer) else { return true }
        return clients[client].verification?.refusal == nil
            && timer.reached(client.entry.latestVerification(of: kept))
    }

    /// Whether a request to Apple runs: there is one at a time.
    private var isAskingApple: Bool {
        jobs.all.contains { if case .verification = $0.resource { true } else { false } }
    }

    /// Asks Apple about the next candidate that is kept in the state directory.
    mutating func planRequestToApple(_ timer: inout WakeTimer) {
        guard !jobs.isStopping, !isAskingApple, requestsToApple.admits(&timer) else { return }
        let open = index.all.compactMap { client in
            clients[client].verification.flatMap { verification in
                verification.candidate == nil ? nil : (client: client, verification: verification)
            }
        }
        .sorted { ($0.verification.askedBy, $0.client) < ($1.verification.askedBy, $1.client) }
        for (client, verification) in open {
            let record = Resource.record(client.name)
            guard let candidate = verification.candidate, client.entry.verify,
                clients[client].record.value.candidate == candidate || jobs.failsOrIsOverdue(record),
                verification.mayAsk(&timer)
            else { continue }
            let job = jobs.next
            if jobs.start(.verify(client.name, candidate), on: .verification(client.name), &timer) {
                // One request runs at a time: the others are planned when it ends, so their own wakes are dropped.
                timer = WakeTimer(now: timer.now)
                requestsToApple.note(at: timer.now.boot)
                clients[client].verification?.began(job, at: timer.now)
                return
            }
        }
    }
}

extension ClientConfiguration {
    /// When an untried candidate replaces the secret to keep: a moment before that becomes critical, because publishing
    /// takes some time.
    fileprivate func latestVerification(of kept: SecretInfo) -> WallTime {
        criticalAt(kept) - min(60, Seconds(criticalRemainder(of: kept).count / 10))
    }
}
