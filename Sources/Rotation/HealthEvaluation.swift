package import AppleClientSecret
import Failures

/// How a client's secret stands, told from the configuration and what its outputs hold alone: with no daemon to say what
/// it is doing about it, or before the daemon has tried the client for the first time.
///
/// What only a daemon knows that has tried it, such as whether applications were told, is left out.
package struct HealthEvaluation: Hashable, Sendable {
    package let client: ClientName
    /// Nil when it cannot be told.
    package let health: HealthState?
    /// Why it is not ``HealthState/ok``.
    package let failure: Failure?
    /// The secret that ends first; nil when an output holds none.
    package let secret: SecretInfo?

    package var expiresAt: WallTime? { secret?.expiresAt }
}

/// By what it can be told whether a key has signed a secret.
package enum SignatureEvidence: Hashable, Sendable {
    /// The key, as it can be read now.
    case key(KeyDigest)
    /// The key cannot be read, but what it has signed is recognised: the state directory remembers its public half.
    case remembered
    /// Nothing: what carries the right names may be forged.
    case none
}

extension Configuration {
    /// Judges every client, in the order of their names.
    ///
    /// - Parameters:
    ///   - files: what was found at the outputs' paths, or why nothing could be.
    ///   - evidence: of the keys; none is known of one that is missing here.
    package func evaluate(
        _ files: [AbsolutePath: Result<FileObservation, Failure>], _ evidence: [KeyName: SignatureEvidence], at now: Now
    ) -> [HealthEvaluation] {
        clients.sorted { $0.key < $1.key }.compactMap { name, entry in
            guard let key = keys[entry.key] else { return nil }
            var deadlines = Deadlines(now: now)
            return entry.evaluate(
                name, key: key, evidence[entry.key] ?? .none,
                found: { files[$0] ?? .failure(Failure(.noSecret, at: .path($0))) }, &deadlines)
        }
    }
}

extension ClientConfiguration {
    /// Whether a secret that lies in an output may be taken by Apple for its time: one for another client is not, nor is
    /// a forged one. One of a key or an id that was replaced since may well be, whatever the clock here makes of it.
    func serves(_ issued: SecretInfo, isVerifiable: Bool) -> Bool {
        issued.client == clientID && (!isVerifiable || issued.signer != nil)
    }

    /// Judges what the outputs hold by the rules and thresholds that the daemon acts on.
    ///
    /// - Parameters:
    ///   - found: what an output's file holds, or why that cannot be told; nil while nobody has looked.
    ///   - isUnderWay: whether what is missing is not missed yet, for it is being made.
    func evaluate(
        _ name: ClientName, key: KeyConfiguration, _ evidence: SignatureEvidence, isUnderWay: Bool = false,
        found: (AbsolutePath) -> Result<FileObservation, Failure>?, _ deadlines: inout Deadlines
    ) -> HealthEvaluation {
        var held: [(path: AbsolutePath, secret: SecretInfo)] = []
        var unreadable: Failure?
        var isMissing = false
        func result(_ health: HealthState?, _ failure: Failure?) -> HealthEvaluation {
            let first = held.min { $0.secret.expiresAt < $1.secret.expiresAt }
            return HealthEvaluation(
                client: name, health: health, failure: failure,
                secret: health == .critical && failure?.code == .noSecret ? nil : first?.secret)
        }
        for output in outputs {
            switch found(output.path) {
            // An application of another user may well read what this one may not.
            case .failure(let failure) where failure.code == .notReadable: unreadable = unreadable ?? failure
            case .failure(let failure):
                held = []
                return result(.critical, failure)
            case nil: break
            case .success(let observation):
                let observation = observation.slots[output.slot]
                if observation == nil, isUnderWay {
                    isMissing = true
                    continue
                }
                guard let secret = observation?.issued, serves(secret, isVerifiable: evidence != .none) else {
                    let isForged = observation?.issued?.client == clientID
                    return result(
                        .critical,
                        Failure(
                            .noSecret, at: .path(output.path),
                            detail: isForged ? "what it holds was not signed by the key" : nil))
                }
                held.append((output.path, secret))
            }
        }
        guard let weakest = held.min(by: { $0.secret.expiresAt < $1.secret.expiresAt })?.secret else {
            if isMissing { return result(.degraded, Failure(.notPublished, at: .client(name))) }
            // A secret that is only served as a credential lies in no file that others could look at.
            return result(nil, unreadable ?? Failure(.noOutputs, at: .client(name)))
        }
        let expiry = weakest.expiresAt
        if deadlines.reached(expiry) {
            return result(.critical, Failure(.secretExpired, at: .client(name), detail: expiry.description))
        }
        if deadlines.reached(expiry - criticalRemainder) {
            return result(.critical, Failure(.secretExpiring, at: .client(name), detail: expiry.description))
        }
        for (path, secret) in held {
            if let flaw = flaw(of: secret, key: key, evidence, &deadlines) {
                return result(
                    .degraded,
                    Failure(.notPublished, at: .client(name), detail: "\(Printable.name(path.description)) \(flaw)"))
            }
        }
        if let unreadable { return result(nil, unreadable) }
        if isMissing || held.contains(where: { $0.secret.fingerprint != weakest.fingerprint }) {
            return result(.degraded, Failure(.notPublished, at: .client(name)))
        }
        // A host's jitter makes a renewal only earlier, so that a daemon that works is never found overdue; one that has
        // just started is about to renew.
        let due = renewal(of: weakest, jitter: 0)
        if !isUnderWay, deadlines.reached(due) {
            return result(.degraded, Failure(.renewalOverdue, at: .client(name), detail: due.description))
        }
        if evidence == .none { return result(.degraded, Failure(.signatureUnchecked, at: .client(name))) }
        return result(.ok, nil)
    }

    /// Why a daemon would replace a secret that has not expired; nil where it would not (``accepts(_:key:print:at:)``).
    private func flaw(
        of secret: SecretInfo, key: KeyConfiguration, _ evidence: SignatureEvidence, _ deadlines: inout Deadlines
    ) -> String? {
        if !names(secret, key: key) { return "holds one of key id \(secret.keyID) of team \(secret.team)" }
        if !hasCome(secret, &deadlines) { return "holds one issued in the future, at \(secret.issuedAt)" }
        if isTooLong(secret, &deadlines) { return "holds one that lasts longer than Apple allows" }
        if case .key(let print) = evidence, secret.signer != print { return "holds one of another key of the same id" }
        return nil
    }
}
