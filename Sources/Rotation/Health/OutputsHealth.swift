package import AppleClientSecret
import Failures
package import Model

/// A client's health, only by the configuration and its outputs: offline, without asking a daemon.
///
/// Whether applications were notified is known only if the state directory can be read.
package struct OutputsHealth: Hashable, Sendable {
    package let client: ClientName
    /// Nil when it cannot be determined.
    package private(set) var health: HealthState?
    /// Why it is not ``HealthState/ok``.
    package private(set) var failure: Failure?
    /// The secret that expires first; nil when an output holds none.
    package let secret: SecretInfo?
    /// The targets that got the client's secret, and have shown no other since; nil if its record could not be read.
    package var supplied: Set<TargetName>?

    /// When the secret expires that the applications were last notified of, or that of ``secret`` if it is not known which one
    /// that is. Nil when they have none.
    package fileprivate(set) var expiresAt: WallTime?

    package init(client: ClientName, health: HealthState?, failure: Failure?, secret: SecretInfo?) {
        self.client = client
        self.health = health
        self.failure = failure
        self.secret = secret
        expiresAt = secret?.expiresAt
    }

    /// The same in another state, for another reason.
    package func judged(_ health: HealthState, _ failure: Failure?) -> OutputsHealth {
        var judged = self
        (judged.health, judged.failure) = (health, failure)
        return judged
    }
}

extension Configuration {
    /// Judges every client, in the order of their names.
    ///
    /// - Parameters:
    ///   - files: the content of each output's file, or why it could not be read.
    ///   - evidence: by key; one that is missing here counts as ``SignatureEvidence/none``.
    ///   - current: the secrets that the state directory holds, as far as it can be read.
    ///   - records: each client's record in it, as far as it can be read.
    ///   - run: the observations of the clock by a daemon.
    ///   - builtAt: when this program was built.
    package func evaluate(
        _ files: [AbsolutePath: Result<FileObservation, Failure>], _ evidence: [KeyName: SignatureEvidence],
        current: [ClientName: SecretInfo] = [:], records: [ClientName: Record] = [:],
        clock run: ClockRun = .fromTheStart,
        builtAt: WallTime, at now: Now
    ) -> [OutputsHealth] {
        let found = files.values.compactMap { try? $0.get() }.flatMap { $0.slots.values.compactMap(\.issued) }
        let clock = ClockTrust(judging: found + current.values, run: run, builtAt: builtAt, at: now)
        return clients.sorted { $0.key < $1.key }.compactMap { name, entry in
            guard keys[entry.key] != nil else { return nil }
            let known = entry.keys.compactMap { name in keys[name].map { KnownKey($0, evidence[name] ?? .none) } }
            var timer = WakeTimer(now: now)
            let refusal: (SecretInfo, inout WakeTimer) -> Objection? = { secret, timer in
                entry.refusal(
                    of: secret, keys: known, signer: names(ofSigner: secret, evidence), current: current[name],
                    clockIsTrusted: clock.failure == nil, &timer)
            }
            var facts = ClientFacts(
                name: name, entry: entry, keys: known, current: current[name], clock: clock, builtAt: builtAt)
            facts.findOutputs(
                reading: { files[$0]?.map(\.slots) ?? .failure(Failure(.noSecret, at: .path($0))) },
                refusal: { refusal($0, &timer) })
            guard let record = records[name] else { return facts.judgeOutputs(&timer) }
            var health = facts.judge(with: record, refusal: refusal, &timer)
            health.expiresAt = facts.deliveredExpiry(by: record, holding: health.expiresAt)
            health.supplied = Set(
                entry.targets.filter { output in
                    record.current.map { record.held(at: output)?.isSame(as: $0) == true } == true
                }.map(\.target))
            return health
        }
    }
}

extension Rotation {
    /// The health of a client that something keeps from being served, with the main reason; nil if nothing does. For callers
    /// that cannot ask the store, and judge secrets by the clock themselves.
    package func impairment(of client: ClientName, at now: Now) -> (health: HealthState, failure: Failure)? {
        guard let client = index[client] else { return nil }
        let reason = WakeTimer.peek(at: now) { timer in
            let all = (reasons(for: client, &timer) + warnings(of: client, &timer)).filter { reason in
                let isOthers = reason.failure.place == .store || reason.failure.place == .clock
                // A failure that only this process had in reading proves nothing.
                return !isOthers && reason.failure.code.traits.isDisjoint(with: [.ofStore, .ofReader])
            }
            return mainReason(of: client, among: all, &timer)
        }
        return reason.map { (currentRefusal(client) == nil ? .degraded : .critical, $0.failure) }
    }
}
