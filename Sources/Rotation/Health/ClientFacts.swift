import AppleClientSecret
internal import Failures
import Model

/// The facts that decide a client's health, in the daemon and without one. The daemon's own work for the client and its
/// failures are not among them.
struct ClientFacts {
    let name: ClientName
    let entry: ClientConfiguration
    /// The keys that may sign for it, and the evidence of whether they did.
    let keys: [KnownKey]
    /// The client's secret as far as is known.
    let current: SecretInfo?
    /// A distrusted clock calls no secret bad because of its times, except an expired one. A clock that may be ahead does not
    /// even call an expired one bad.
    let clock: ClockTrust
    /// When this program was built.
    let builtAt: WallTime
    /// Whether a missing secret may still come, because it is being minted.
    var isUnderWay = false
    /// The findings in its outputs, in order, up to the first one that locks its applications out.
    private(set) var outputs: [(path: AbsolutePath, found: OutputFinding)] = []
    /// Of a client without outputs: the secret that its credential is; nil if it has none, or it is not known here.
    var served: SecretInfo?
    /// The secret last put into each place behind an API; nil if it is not known.
    var pushed: [SecretInfo?] = []
    /// The places that hold no secret that applications can use for long enough, as an API shows it.
    var emptyPlaces: [TargetName] = []
    /// Why the last request to a place behind an API failed; nil if none did.
    var failing: Failure?
    /// The secret that each action's applications hold, as far as is known.
    var delivered: [SecretInfo] = []

    /// The worst of the secrets in a client's outputs, APIs and applications.
    enum Weakest {
        /// In this output applications find no secret, or one that Apple refuses.
        case lockedOut(AbsolutePath, OutputFinding)
        /// A place behind an API holds no secret that applications can use for long enough.
        case empty
        /// The secret that expires first.
        case held(SecretInfo)
        /// No secret is known, and not every place was read.
        case unknown
        /// No place could hold one.
        case nowhere
    }

    /// Records the content of its outputs.
    ///
    /// - Parameters:
    ///   - read: the content of an output's file, or why it could not be read; nil while it was not read.
    ///   - refusal: why Apple refuses a secret now; nil if it may accept it.
    mutating func findOutputs(
        reading read: (AbsolutePath) -> Result<[FileSlot: SlotObservation], Failure>?,
        refusal: (SecretInfo) -> Objection?
    ) {
        outputs = []
        for output in entry.outputs {
            let found = OutputFinding(read(output.path), output.slot, refusal: refusal)
            outputs.append((output.path, found))
            if found.locksOut(isUnderWay: isUnderWay) { return }
        }
    }

    /// The output that locks its applications out; nil if none does.
    private var lockout: (path: AbsolutePath, found: OutputFinding)? {
        outputs.last.flatMap { $0.found.locksOut(isUnderWay: isUnderWay) ? $0 : nil }
    }

    /// The secrets in its outputs, or its credential's.
    private var published: [(place: String, secret: SecretInfo)] {
        outputs.compactMap { path, found in
            if case .held(let secret) = found { (place: Printable.name(path.description), secret: secret) } else { nil }
        } + (served.map { [(place: "the state directory", secret: $0)] } ?? [])
    }

    /// The worst of the secrets in its outputs, APIs and applications. An application that was never notified does not count: it
    /// can still start.
    var weakest: Weakest {
        if let lockout { return .lockedOut(lockout.path, lockout.found) }
        if !emptyPlaces.isEmpty { return .empty }
        let secrets = published.map(\.secret) + pushed.compactMap(\.self) + delivered
        if let first = secrets.firstToExpire { return .held(first) }
        return outputs.isEmpty && pushed.isEmpty ? .nowhere : .unknown
    }
}

/// The finding in an output, as health judges it.
enum OutputFinding {
    /// It was not read yet.
    case unread
    case unreadable(Failure)
    case missing
    /// No client secret at all.
    case strange
    /// A secret that Apple refuses, not merely because it has expired.
    case refused(Objection)
    /// A secret that Apple accepts, or did until it expired.
    case held(SecretInfo)

    /// - Parameters:
    ///   - read: the content of the file, or why it could not be read; nil while it was not read.
    ///   - refusal: why Apple refuses a secret now; nil if it may accept it.
    init(_ read: Result<[FileSlot: SlotObservation], Failure>?, _ slot: FileSlot, refusal: (SecretInfo) -> Objection?) {
        switch read {
        case nil: self = .unread
        case .failure(let failure): self = .unreadable(failure)
        case .success(let slots):
            switch slots[slot] {
            case nil: self = .missing
            case .unusable(nil): self = .strange
            case .unusable(let objection?): self = .refused(objection)
            case .secret(let secret):
                switch refusal(secret) {
                // The client, which may hold another one, reports that it has expired.
                case nil, .expired: self = .held(secret)
                case let objection?: self = .refused(objection)
                }
            }
        }
    }

    /// Whether applications find no secret there that Apple may accept.
    ///
    /// - Parameter isUnderWay: whether a missing secret may still come.
    func locksOut(isUnderWay: Bool) -> Bool {
        switch self {
        // An application of another user, or with free descriptors, may be able to read it.
        case .unreadable(let failure): !failure.code.traits.contains(.ofReader)
        case .missing: !isUnderWay
        case .strange, .refused: true
        case .unread, .held: false
        }
    }

    /// Why applications cannot use the content; nil if it is not known that they cannot.
    func failure(at path: AbsolutePath) -> Failure? {
        switch self {
        case .unreadable(let failure): failure
        case .missing: Failure(.noSecret, at: .path(path))
        case .strange: Failure(.noSecret, at: .path(path), detail: "what it holds is not a client secret")
        case .refused(let objection): Failure(.secretUnacceptable, at: .path(path), detail: "it \(objection.words)")
        case .unread, .held: nil
        }
    }
}

/// Health by the rules and thresholds that the daemon acts on.
extension ClientFacts {
    private func result(_ health: HealthState?, _ failure: Failure?, _ secret: SecretInfo?) -> OutputsHealth {
        OutputsHealth(client: name, health: health, failure: failure?.concerning(name), secret: secret)
    }

    /// Judges the content of its outputs.
    func judgeOutputs(_ timer: inout WakeTimer) -> OutputsHealth {
        let held = published
        let weakest = held.map(\.secret).firstToExpire
        if let lockout {
            let isRefused = if case .refused = lockout.found { true } else { false }
            return result(.critical, lockout.found.failure(at: lockout.path), isRefused ? weakest : nil)
        }
        var unreadable: Failure?
        for (path, found) in outputs {
            if case .unreadable = found { unreadable = unreadable ?? found.failure(at: path) }
        }
        let newest = held.map(\.secret).max { $0.expiresAt < $1.expiresAt }
        let lacking = outputs.filter { _, found in
            switch found {
            case .missing: true
            case .held(let secret): secret.fingerprint != newest?.fingerprint
            case .unread, .unreadable, .strange, .refused: false
            }
        }.map { Failure.Place.path($0.path) }
        guard let weakest else {
            if !lacking.isEmpty { return result(.degraded, .notPublished(name, missingFrom: lacking), nil) }
            return result(nil, unreadable ?? unrecorded, nil)
        }
        let isSpared =
            current?.fingerprint == weakest.fingerprint
            && clock.spares(
                weakest, due: entry.firstReplacement(of: weakest, jitter: 0), builtAt: builtAt, &timer)
        if !isSpared, let failure = entry.shortLife(of: weakest, name, &timer) {
            return result(.critical, failure, weakest)
        }
        if let failure = clock.doubt(isSpared: isSpared, at: timer.now.wall) {
            return result(.degraded, failure, weakest)
        }
        for (place, secret) in held {
            do throws(Objection) {
                _ = try entry.rank(of: secret, keys: keys)
            } catch {
                let words = "\(place) holds one that \(error.words)"
                return result(.degraded, Failure(.notPublished, at: .client(name), detail: words), weakest)
            }
        }
        if let unreadable { return result(nil, unreadable, weakest) }
        if let failure = lateness(of: weakest, missingFrom: lacking, &timer) {
            return result(.degraded, failure, weakest)
        }
        if keys.allSatisfy({ $0.evidence == .none }) {
            return result(.degraded, Failure(.signatureUnchecked, at: .client(name)), weakest)
        }
        return result(.ok, nil, weakest)
    }

    /// Only the state directory shows the secret of a credential or of a place behind an API.
    private var unrecorded: Failure {
        guard !entry.targets.isEmpty else { return Failure(.noOutputs, at: .client(name)) }
        let targets = listed(entry.targets.map { Failure.Place.target($0.target).description }, atMost: 3)
        return Failure(
            .noOutputs, at: .client(name), detail: "there is no record of a push to \(targets)",
            remedy: .say("start the daemon, or push with \"run --once\""))
    }

    /// The part of a usable secret's delivery that is late; nil if nothing is.
    ///
    /// - Parameter lacking: the places that need a newer secret.
    private func lateness(
        of weakest: SecretInfo, missingFrom lacking: [Failure.Place], _ timer: inout WakeTimer
    ) -> Failure? {
        if !lacking.isEmpty { return .notPublished(name, missingFrom: lacking) }
        // A machine's jitter only makes renewals earlier, so with 0 a working daemon is never found overdue.
        let due = entry.renewal(of: weakest, jitter: 0)
        return timer.reached(due) ? Failure(.renewalOverdue, at: .client(name), detail: due.description) : nil
    }

    /// Judges also by the state directory: the secrets last put behind APIs, and the secret its applications were last notified
    /// of.
    ///
    /// - Parameter record: as it is kept; it knows of every action that has run.
    func judge(with record: Record, _ timer: inout WakeTimer) -> OutputsHealth {
        let actions = entry.onChange.filter { !$0.isRedeployment }.map(\.id)
        var facts = self
        if entry.credential != nil, outputs.isEmpty { facts.served = record.current }
        if let current = record.current {
            facts.pushed = entry.targets.map { record.pushed[$0]?.unless(record.shown[$0]) }
            let failing = entry.targets.compactMap { output in
                record.failing[output].map { Failure($0.code, at: .target(output.target), detail: $0.detail) }
            }
            facts.failing = failing.first
            facts.emptyPlaces = entry.targets.filter {
                entry.lacksSecret(record.shown[$0], wanted: current, clock: clock, &timer)
            }.map(\.target)
        }
        facts.delivered = actions.compactMap { record.delivered.inUse(by: $0, of: actions) }
        let judged = facts.judgeTargets(after: facts.judgeOutputs(&timer), holding: record.current, &timer)
        guard judged.health != .critical else { return judged }
        let weakest: SecretInfo? = if case .held(let secret) = facts.weakest { secret } else { nil }
        if clock.failure == nil, judged.failure?.code != .clockPerhapsAhead,
            let failure = facts.delivered.firstToExpire.flatMap({ entry.shortLife(of: $0, name, &timer) })
        {
            let reason = actions.lazy.compactMap { record.failed[$0] }.first
            let isLasting =
                judged.health == .ok && record.current.flatMap { entry.shortLife(of: $0, name, &timer) } == nil
            return result(.critical, isLasting ? failure.untilDelivered(reason) : failure, weakest)
        }
        let isOwed = actions.contains(where: record.owed.contains)
        let isNotified = actions.allSatisfy { action in
            judged.secret.map { record.delivered[action]?.isSame(as: $0) == true } != false
        }
        // A secret that is newer than the record was written by hand. A received one may wait for its turn or its rollout,
        // which only the daemon knows, unless an action is owed.
        let isKnown = judged.secret.map { record.current?.isSame(as: $0) == true } == true
        if judged.health == .ok, isKnown, isOwed || (entry.source == nil && !isNotified) {
            return result(.degraded, .notDelivered(name, failed: record.failed, of: actions), weakest)
        }
        return result(judged.health, judged.failure, weakest)
    }

    /// The same with the secrets last put behind APIs.
    ///
    /// - Parameters:
    ///   - judged: by the outputs.
    ///   - current: the client's secret; nil if none is kept.
    private func judgeTargets(
        after judged: OutputsHealth, holding current: SecretInfo?, _ timer: inout WakeTimer
    ) -> OutputsHealth {
        if !emptyPlaces.isEmpty, judged.health != .critical {
            let failure = Failure.notPublished(name, missingFrom: emptyPlaces.map { .target($0) })
            return result(.critical, failure, judged.secret)
        }
        guard let current, !pushed.isEmpty, clock.failure == nil,
            judged.health == .ok || judged.failure?.code == .noOutputs
        else { return judged }
        let known = pushed.compactMap(\.self)
        // A place that was never pushed to may hold a secret that a user put there.
        let lacking = zip(entry.targets, pushed).filter { $1?.isSame(as: current) != true }
            .map { Failure.Place.target($0.0.target) }
        guard let weakest = known.firstToExpire else {
            return result(.degraded, failing ?? Failure.notPublished(name, missingFrom: lacking), judged.secret)
        }
        if let failure = entry.shortLife(of: weakest, name, &timer) { return result(.critical, failure, weakest) }
        let failure = failing ?? lateness(of: weakest, missingFrom: lacking, &timer)
        return result(failure == nil ? .ok : .degraded, failure, weakest)
    }
}

extension ClientConfiguration {
    /// The failure of a secret that has expired or is critical; nil for one that is neither.
    func shortLife(of secret: SecretInfo, _ name: ClientName, _ timer: inout WakeTimer) -> Failure? {
        let expiry = secret.expiresAt
        if timer.reached(expiry) {
            return Failure(.secretExpired, at: .client(name), detail: expiry.description)
        }
        return isCritical(secret, &timer)
            ? Failure(.secretExpiring, at: .client(name), detail: expiry.description) : nil
    }
}
