import AppleClientSecret
internal import Failures
import Model

/// A place behind an API: the secret put there, and the content that the API shows.
struct TargetState: Sendable {
    let output: PushOutput
    /// The secret last put there, as far as is known.
    private(set) var pushed: SecretInfo?
    private(set) var sight = Sight.nothing
    /// When the API took the secret; nil if that was before the start.
    private var pushedAt: BootTime?
    /// Whether the API has shown a secret that was put there. If it later shows nothing recognisable, such as another digest,
    /// it holds another secret.
    private var wasShown = false
    /// Whether a push has failed since the last successful one: it may still have been carried out.
    private var isUncertain = false
    /// The content that the API has shown instead of the pushed secret; nil if that is not known, or it holds the secret.
    private(set) var shown: PushPlaceContent?
    /// Whether the API took the last secret and did not show it for five minutes. Its later answers no longer count as answers
    /// from before the write.
    private var isRefuted = false
    /// Whether applications use the place, as the API last showed it; nil if it does not show that, or was not asked yet.
    private var use: PushPlaceUse?
    /// When the API was last read or written since the start, the last reload or the last request.
    fileprivate(set) var readAt: BootTime? {
        didSet { if readAt != nil { wasAsked = true } }
    }
    /// Whether the API was read or written since the start.
    private(set) var wasAsked = false
    private(set) var writtenAt: WallTime?
    private(set) var drift = DriftRepairs(.ofTarget)

    init(_ output: PushOutput) { self.output = output }

    /// The API's last answer about the last secret.
    enum Sight: Sendable {
        /// It shows nothing, or was not asked yet.
        case nothing
        /// It took the secret and does not show it yet: for five minutes that counts as an answer from before.
        case awaited
        case secret
        case another

        /// Whether it showed the secret; nil if that is not known.
        var isVerified: Bool? {
            switch self {
            case .nothing: nil
            case .awaited, .another: false
            case .secret: true
            }
        }
    }

    // MARK: State

    /// Whether this secret was put there, and no other content has been seen there since.
    func holds(_ secret: SecretInfo) -> Bool { !isUncertain && sight != .another && pushed?.isSame(as: secret) == true }

    /// Whether the API showed the secret that should be there; nil if that is not known.
    func isVerified(_ wanted: SecretInfo?) -> Bool? {
        guard let wanted, isUncertain || pushed?.isSame(as: wanted) != true else { return sight.isVerified }
        // Of a secret that was not put there the API can only have shown that something else is.
        return shown == nil && sight != .another ? nil : false
    }

    /// The secret that is believed to be there; nil when the API shows another, or none. After a failed push it is still the
    /// former one, although the push may have been carried out.
    var known: SecretInfo? { sight == .another ? nil : pushed?.unless(shown) }

    /// Whether it lacks the secret and stays so for now, because it is contested.
    func isLeftAlone(_ wanted: SecretInfo, _ timer: inout WakeTimer) -> Bool {
        !holds(wanted) && drift.isLeftAlone([.whole: wanted.fingerprint], &timer)
    }

    /// Whether the API has to be read once in a while, because it shows something.
    var isReadable: Bool { sight != .nothing || use != nil }

    /// Why no application uses the content, as far as the API shows it.
    var disuse: Failure? {
        switch use {
        case .unused(let words)?:
            Failure(.pushSwitchedOff, at: .target(output.target), detail: Redaction.foreign(words))
        case .outdated(let words)?:
            Failure(.pushDeploymentOutdated, at: .target(output.target), detail: Redaction.foreign(words))
        case .used?, nil: nil
        }
    }

    /// Whether production serves a deployment from before the last write.
    var isOutdated: Bool { if case .outdated? = use { true } else { false } }

    /// Whether the secret was put there so recently that the API may not show it yet. A secret's put is never older than the
    /// secret.
    private func isRecent(at now: Now) -> Bool {
        if let pushedAt { return now.boot < pushedAt + PushPlaceReading.staleness }
        guard let pushed else { return false }
        return now.wall < pushed.mintedAt + PushPlaceReading.staleness
    }

    // MARK: Events

    /// Has it read again, and repaired at once if it is contested: the user may just have stopped the change.
    mutating func requestRepair() {
        readAt = nil
        drift.requestRepair()
    }

    /// For the record: the content that the API has shown last; nil if that is not known. An API that may not show a new secret
    /// yet still counts as one that shows secrets.
    var lastShown: PushPlaceContent? {
        if let shown { return shown == .something ? nil : shown }
        guard wasShown, sight != .another, let pushed else { return nil }
        return .secret(expiresAt: pushed.expiresAt)
    }

    /// Adopts the content from a client's record that the API has shown last, after the pushed secret.
    mutating func recall(_ content: PushPlaceContent) {
        guard readAt == nil, !isUncertain, shown == nil else { return }
        if let pushed, content == .secret(expiresAt: pushed.expiresAt) {
            wasShown = true
        } else {
            shown = content
        }
    }

    /// Adopts a pushed secret from a client's record. If the state directory answers late, later pushes are newer.
    mutating func recall(_ secret: SecretInfo) {
        guard pushed == nil else { return }
        pushed = secret
        drift.presume([.whole: secret.fingerprint])
    }

    /// Records that the API took a secret.
    ///
    /// - Parameters:
    ///   - reading: the content that it showed then.
    ///   - wanted: the secret that is to be there now.
    /// - Returns: why actions run again for it.
    mutating func recordPush(
        _ secret: SecretInfo, _ reading: PushPlaceReading, wanted: SecretInfo?, at now: Now
    ) -> RepeatCause? {
        pushed = secret
        use = reading.use
        sight =
            switch reading.holds {
            case true?: .secret
            case false?: .awaited
            case nil: wasShown ? .awaited : .nothing
            }
        pushedAt = now.boot
        if sight == .secret { wasShown = true }
        isUncertain = false
        isRefuted = isRefuted && reading.holds == false
        shown = isRefuted ? reading.instead ?? shown : nil
        readAt = now.boot
        writtenAt = now.wall
        // The secret that has replaced it is pushed next. Only then is the place up to date. What was put back is a repair all the
        // same, and the next secret is none.
        guard secret == wanted else {
            drift.countRepair([.whole: secret.fingerprint], at: now.boot)
            return nil
        }
        let isNew = drift.isNew([.whole: secret.fingerprint])
        // The start of the other content is not known: an application may have read it.
        if drift.wrote([.whole: secret.fingerprint], isBeingRead: true, at: now.boot) { return .wasAtTarget }
        return isNew ? .cameToTarget(secret) : nil
    }

    /// - Parameter content: the content that the API showed before; nil if that is not known.
    mutating func pushFailed(holding content: PushPlaceContent?) {
        isUncertain = true
        isRefuted = false
        shown = content ?? shown
    }

    /// Records the content that the API shows.
    ///
    /// - Parameters:
    ///   - secret: the secret that was looked for.
    ///   - wanted: the secret that is to be there now.
    /// - Returns: whether it accepted the secret and did not show it in time, so that it does not keep it.
    mutating func recordRead(
        _ secret: SecretInfo, _ reading: PushPlaceReading, wanted: SecretInfo?, at now: Now
    ) -> Bool {
        guard pushed == secret else { return false }
        use = reading.use
        readAt = now.boot
        let isRecent = isRecent(at: now)
        let wasAwaited = sight == .awaited
        sight =
            switch reading.holds ?? (wasShown || wasAwaited && isRecent ? false : nil) {
            case true?: .secret
            case false?: isRecent ? .awaited : .another
            case nil: .nothing
            }
        if sight == .secret { (wasShown, shown, isRefuted) = (true, nil, false) }
        if sight == .another { shown = reading.instead ?? shown }
        if sight != .awaited, secret == wanted {
            drift.see(
                isGood: sight != .another, hasContent: sight != .another, wanted: [.whole: secret.fingerprint],
                at: now.boot)
        }
        guard wasAwaited, sight == .another, secret == wanted else { return false }
        isRefuted = true
        return true
    }
}

/// The places behind APIs that secrets are put into.
struct TargetStates: Sendable {
    private var all: [TargetName: TargetState] = [:]

    subscript(_ target: TargetName) -> TargetState? {
        _read { yield all[target] }
        _modify { yield &all[target] }
    }

    /// The target at this place; nil if a reload has moved it.
    subscript(_ output: PushOutput) -> TargetState? {
        get { all[output.target].flatMap { $0.output == output ? $0 : nil } }
        set { if all[output.target]?.output == output { all[output.target] = newValue } }
    }

    mutating func adopt(_ index: ConfigurationIndex) {
        let former = all
        all = [:]
        for output in index.all.flatMap(\.targets) {
            var target = former[output.target] ?? TargetState(output)
            if target.output != output { target = TargetState(output) }
            target.readAt = nil
            all[output.target] = target
        }
    }

    /// Adopts a client's record.
    mutating func recall(_ record: Record) {
        for (output, pushed) in record.pushed { self[output]?.recall(pushed) }
        for (output, content) in record.shown { self[output]?.recall(content) }
    }

    /// For a client's record: a fact about each of its targets.
    func known<Fact>(of client: ConfiguredClient, _ fact: (TargetState) -> Fact?) -> [PushOutput: Fact] {
        client.targets.reduce(into: [:]) { all, output in all[output] = self.all[output.target].flatMap(fact) }
    }
}

extension ClientConfiguration {
    /// Whether an API shows that applications find no secret in a place, or a critical one.
    ///
    /// - Parameter wanted: the secret that should be there.
    func lacksSecret(
        _ shown: PushPlaceContent?, wanted: SecretInfo?, clock: ClockTrust, _ timer: inout WakeTimer
    ) -> Bool {
        switch shown {
        case .nothing, .unusable: true
        case .secret(let expiry):
            clock.failure == nil
                && timer.reached(
                    expiry - Self.criticalRemainder(renewBefore: wanted.map(renewBefore(of:)) ?? renewBefore))
        case .something, nil: false
        }
    }
}
