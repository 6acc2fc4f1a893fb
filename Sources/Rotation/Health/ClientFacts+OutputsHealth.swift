import AppleClientSecret
internal import Failures
import Model

/// How well a client is served, without a daemon: by the rules and thresholds that the daemon acts on.
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
    /// - Parameters:
    ///   - record: as it is kept; it knows of every action that has run.
    ///   - refusal: why Apple refuses a secret now; nil if it may accept it.
    func judge(
        with record: Record, refusal: (SecretInfo, inout WakeTimer) -> Objection?, _ timer: inout WakeTimer
    ) -> OutputsHealth {
        let actions = entry.onChange.filter { !$0.isRedeployment }.map(\.id)
        var facts = self
        if entry.credential != nil, outputs.isEmpty { facts.served = record.current }
        if let current = record.current {
            facts.pushed = entry.targets.map(record.held)
            let failing = entry.targets.compactMap { output in
                record.failing[output].map { Failure($0.code, at: .target(output.target), detail: $0.detail) }
            }
            facts.failing = failing.first
            facts.emptyPlaces = entry.targets.filter {
                entry.lacksSecret(record.shown[$0], wanted: current, clock: clock, &timer)
            }.map(\.target)
        }
        facts.delivered = actions.flatMap { record.delivered.inUse(by: $0, of: actions) }
        facts.findRefused { refusal($0, &timer) }
        let judged = facts.judgeTargets(after: facts.judgeOutputs(&timer), holding: record.current, &timer)
        guard judged.health != .critical else { return judged }
        if let refused = facts.refused {
            let failure = facts.failure(ofRefused: refused.secret, refused.objection, record, of: actions)
            return result(.critical, failure, refused.secret)
        }
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
        // which only the daemon knows, unless an action is owed or it is not known what applications hold.
        let isKnown = judged.secret.map { record.current?.isSame(as: $0) == true } == true
        let mayWait = entry.source != nil && actions.allSatisfy { record.delivered.tellsHolding(of: $0) }
        if judged.health == .ok, isKnown, isOwed || !isNotified && !mayWait {
            return result(.degraded, .notDelivered(name, failed: record.failed, of: actions), weakest)
        }
        return result(judged.health, judged.failure, weakest)
    }

    /// The failure of a client of which Apple refuses a secret that is in no file.
    private func failure(
        ofRefused secret: SecretInfo, _ objection: Objection, _ record: Record, of actions: [ActionID]
    ) -> Failure {
        if record.current?.isSame(as: secret) == true {
            return Failure(.secretUnacceptable, at: .client(name), detail: "it \(objection.words)")
        }
        let holding = zip(entry.targets, pushed).filter { $1?.isSame(as: secret) == true }
            .map { Failure.Place.target($0.0.target) }
        guard holding.isEmpty else { return failing ?? Failure.notPublished(name, missingFrom: holding) }
        let reason = actions.lazy.compactMap { record.failed[$0] }.first
        return .notDelivered(at: .client(name), whileHeld: objection.words, reason)
    }

    /// When the first secret expires that applications hold, as the daemon shows it: those behind APIs, and those that they were
    /// last notified of. Nil if one of them is not known.
    ///
    /// - Parameter held: when the first secret in the outputs expires, which counts without actions.
    func deliveredExpiry(by record: Record, holding held: WallTime?) -> WallTime? {
        guard entry.undeployed.isEmpty else { return nil }
        var expiries = entry.targets.map { record.held(at: $0)?.expiresAt }
        expiries.append(entry.onChange.isEmpty ? held : record.delivered.firstExpiry(of: entry.onChange.map(\.id)))
        return expiries.firstIfAllAreKnown
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
