package import AppleClientSecret
import Failures
package import Model

/// A client's health by the configuration and what its outputs hold alone: offline, without asking a daemon, or before
/// the daemon has tried the client for the first time.
///
/// Whether applications were notified is known as far as the state directory can be read.
package struct OutputsHealth: Hashable, Sendable {
    package let client: ClientName
    /// Nil when it cannot be determined.
    package let health: HealthState?
    /// Why it is not ``HealthState/ok``.
    package let failure: Failure?
    /// The secret that expires first; nil when an output holds none.
    package let secret: SecretInfo?

    package var expiresAt: WallTime? { secret?.expiresAt }

    package init(client: ClientName, health: HealthState?, failure: Failure?, secret: SecretInfo?) {
        self.client = client
        self.health = health
        self.failure = failure
        self.secret = secret
    }
}

extension Configuration {
    /// Judges every client, in the order of their names.
    ///
    /// - Parameters:
    ///   - files: what each output's file holds, or why it could not be read.
    ///   - evidence: by key; one that is missing here counts as ``SignatureEvidence/none``.
    ///   - current: the secrets that the state directory holds, as far as it can be read.
    ///   - records: what it holds of each client, as far as it can be read.
    ///   - builtAt: when this program was built.
    package func evaluate(
        _ files: [AbsolutePath: Result<FileObservation, Failure>], _ evidence: [KeyName: SignatureEvidence],
        current: [ClientName: SecretInfo] = [:], records: [ClientName: Record] = [:], builtAt: WallTime, at now: Now
    ) -> [OutputsHealth] {
        let found = files.values.compactMap { try? $0.get() }.flatMap { $0.slots.values.compactMap(\.issued) }
        let clock = ClockTrust(judging: found + current.values, builtAt: builtAt, at: now)
        return clients.sorted { $0.key < $1.key }.compactMap { name, entry in
            guard keys[entry.key] != nil else { return nil }
            let known = entry.keys.compactMap { name in keys[name].map { KnownKey($0, evidence[name] ?? .none) } }
            var deadlines = Deadlines(now: now)
            let judged = entry.evaluate(
                name, keys: known,
                signer: { names(ofSigner: $0, evidence) }, current: current[name], clock: clock, builtAt: builtAt,
                found: { files[$0] ?? .failure(Failure(.noSecret, at: .path($0))) }, &deadlines)
            return records[name].map { judged.considering($0, of: entry, clock: clock, &deadlines) } ?? judged
        }
    }
}

extension ClientConfiguration {
    /// Judges what the outputs hold by the rules and thresholds that the daemon acts on.
    ///
    /// - Parameters:
    ///   - keys: those that may sign for it, and what is available to check whether they did.
    ///   - signer: the key that has signed a secret, under each of its configured names.
    ///   - current: the client's secret as far as is known.
    ///   - found: what an output's file holds, or why it could not be read; nil while it was not read.
    ///   - clock: by one that is not trusted no secret is called bad because of its times but one that has expired, and by one
    ///     that may be ahead not even that.
    ///   - builtAt: when this program was built.
    ///   - isUnderWay: whether a missing or overdue secret may be still to come, because it is being made.
    func evaluate(
        _ name: ClientName, keys: [KnownKey], signer: (SecretInfo) -> [KeyConfiguration], current: SecretInfo?,
        clock: ClockTrust, builtAt: WallTime, isUnderWay: Bool = false,
        found: (AbsolutePath) -> Result<FileObservation, Failure>?, _ deadlines: inout Deadlines
    ) -> OutputsHealth {
        let isVerifiable = keys.contains { $0.evidence != .none }
        var held: [(path: AbsolutePath, secret: SecretInfo)] = []
        var unreadable: Failure?
        var isMissing = false
        func result(_ health: HealthState?, _ failure: Failure?) -> OutputsHealth {
            return OutputsHealth(
                client: name, health: health, failure: failure?.concerning(name),
                secret: health == .critical && failure?.code == .noSecret ? nil : held.map(\.secret).firstToExpire)
        }
        for output in outputs {
            switch found(output.path) {
            // An application that runs as another user, or with descriptors left, may be able to read it.
            case .failure(let failure) where failure.code.traits.contains(.ofReader): unreadable = unreadable ?? failure
            case .failure(let failure):
                held = []
                return result(.critical, failure)
            case nil: break
            case .success(let observation):
                let judgement = SlotJudgement(observation.slots[output.slot]) { secret in
                    refusal(
                        of: secret, keys: keys, signer: signer(secret), current: current,
                        clockIsTrusted: clock.failure == nil, &deadlines)
                }
                switch judgement {
                case .missing where isUnderWay: isMissing = true
                case .missing: return result(.critical, Failure(.noSecret, at: .path(output.path)))
                case .strange:
                    let words = "what it holds is not a client secret"
                    return result(.critical, Failure(.noSecret, at: .path(output.path), detail: words))
                case .refused(let objection): return result(.critical, objection.failure(at: output.path))
                case .held(let secret): held.append((output.path, secret))
                }
            }
        }
        guard let weakest = held.map(\.secret).firstToExpire else {
            if isMissing { return result(.degraded, Failure(.notPublished, at: .client(name))) }
            // A secret that is only served as a credential is in no file that could be read here.
            return result(nil, unreadable ?? Failure(.noOutputs, at: .client(name)))
        }
        let isSpared =
            current?.fingerprint == weakest.fingerprint
            && clock.spares(
                weakest, due: firstReplacement(of: weakest, jitter: 0), builtAt: builtAt, &deadlines)
        if !isSpared, let failure = shortLife(of: weakest, name, &deadlines) { return result(.critical, failure) }
        if let failure = clock.doubt(isSpared: isSpared, at: deadlines.now.wall) { return result(.degraded, failure) }
        for (path, secret) in held {
            do throws(Objection) {
                _ = try rank(of: secret, keys: keys)
            } catch {
                let words = "\(Printable.name(path.description)) holds one that \(error.words)"
                return result(.degraded, Failure(.notPublished, at: .client(name), detail: words))
            }
        }
        if let unreadable { return result(nil, unreadable) }
        if isMissing || held.contains(where: { $0.secret.fingerprint != weakest.fingerprint }) {
            return result(.degraded, Failure(.notPublished, at: .client(name)))
        }
        // A host's jitter only makes renewals earlier, so with 0 a working daemon is never found overdue; one that has
        // just started is about to renew.
        let due = renewal(of: weakest, jitter: 0)
        if !isUnderWay, deadlines.reached(due) {
            return result(.degraded, Failure(.renewalOverdue, at: .client(name), detail: due.description))
        }
        if !isVerifiable { return result(.degraded, Failure(.signatureUnchecked, at: .client(name))) }
        return result(.ok, nil)
    }

    /// The failure of a secret that has expired or is critical; nil for one that is neither.
    func shortLife(of secret: SecretInfo, _ name: ClientName, _ deadlines: inout Deadlines) -> Failure? {
        let expiry = secret.expiresAt
        if deadlines.reached(expiry) {
            return Failure(.secretExpired, at: .client(name), detail: expiry.description)
        }
        return isCritical(secret, &deadlines)
            ? Failure(.secretExpiring, at: .client(name), detail: expiry.description) : nil
    }
}

/// What a place for a secret in an output holds, as health judges it.
enum SlotJudgement {
    case missing
    /// No client secret at all.
    case strange
    /// A secret that Apple refuses, not merely because it has expired.
    case refused(Objection)
    /// A secret that Apple accepts, or did until it expired.
    case held(SecretInfo)

    /// - Parameter refusal: why Apple refuses a secret now; nil where it may accept it.
    init(_ observation: SlotObservation?, refusal: (SecretInfo) -> Objection?) {
        switch observation {
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

extension Objection {
    /// The failure of an output that holds something which Apple refuses.
    func failure(at path: AbsolutePath) -> Failure {
        Failure(.secretUnacceptable, at: .path(path), detail: "it \(words)")
    }
}
