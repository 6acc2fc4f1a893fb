package import AppleClientSecret
import Failures

/// How a client's secret stands, told from the configuration and what its outputs hold alone: with no daemon to say what
/// it is doing about it, or before the daemon has tried the client for the first time.
///
/// What only a daemon knows that has tried it, such as whether applications were told, is left out.
package struct Appraisal: Hashable, Sendable {
    package let client: ClientName
    /// Nil when it cannot be told.
    package let standing: Standing?
    /// Why it is not ``Standing/ok``.
    package let trouble: Trouble?
    /// The secret that ends first; nil when an output holds none.
    package let secret: Issued?

    package var expiresAt: WallTime? { secret?.expiresAt }
}

/// By what it can be told whether a key has signed a secret.
package enum SignatureEvidence: Hashable, Sendable {
    /// The key, as it can be read now.
    case key(KeyPrint)
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
    package func appraise(
        _ files: [AbsolutePath: Result<Look, Trouble>], _ evidence: [KeyName: SignatureEvidence], at now: Now
    ) -> [Appraisal] {
        clients.sorted { $0.key < $1.key }.compactMap { name, entry in
            guard let key = keys[entry.key] else { return nil }
            var deadlines = Deadlines(now: now)
            return entry.appraise(
                name, key: key, evidence[entry.key] ?? .none,
                found: { files[$0] ?? .failure(Trouble(.noSecret, at: .path($0))) }, &deadlines)
        }
    }
}

extension ClientEntry {
    /// Whether a secret that lies in an output may be taken by Apple for its time: one for another client is not, nor is
    /// a forged one. One of a key or an id that was replaced since may well be, whatever the clock here makes of it.
    func serves(_ issued: Issued, isVerifiable: Bool) -> Bool {
        issued.client == clientID && (!isVerifiable || issued.signer != nil)
    }

    /// Judges what the outputs hold by the rules and thresholds that the daemon acts on.
    ///
    /// - Parameters:
    ///   - found: what an output's file holds, or why that cannot be told; nil while nobody has looked.
    ///   - isUnderWay: whether what is missing is not missed yet, for it is being made.
    func appraise(
        _ name: ClientName, key: KeyEntry, _ evidence: SignatureEvidence, isUnderWay: Bool = false,
        found: (AbsolutePath) -> Result<Look, Trouble>?, _ deadlines: inout Deadlines
    ) -> Appraisal {
        var held: [(path: AbsolutePath, secret: Issued)] = []
        var unreadable: Trouble?
        var isMissing = false
        func result(_ standing: Standing?, _ trouble: Trouble?) -> Appraisal {
            let first = held.min { $0.secret.expiresAt < $1.secret.expiresAt }
            return Appraisal(
                client: name, standing: standing, trouble: trouble,
                secret: standing == .critical && trouble?.code == .noSecret ? nil : first?.secret)
        }
        for output in outputs {
            switch found(output.path) {
            // An application of another user may well read what this one may not.
            case .failure(let trouble) where trouble.code == .notReadable: unreadable = unreadable ?? trouble
            case .failure(let trouble):
                held = []
                return result(.critical, trouble)
            case nil: break
            case .success(let look):
                let sighting = look.slots[Slot(output.format)]
                if sighting == nil, isUnderWay {
                    isMissing = true
                    continue
                }
                guard let secret = sighting?.issued, serves(secret, isVerifiable: evidence != .none) else {
                    let isForged = sighting?.issued?.client == clientID
                    return result(
                        .critical,
                        Trouble(
                            .noSecret, at: .path(output.path),
                            detail: isForged ? "what it holds was not signed by the key" : nil))
                }
                held.append((output.path, secret))
            }
        }
        guard let weakest = held.min(by: { $0.secret.expiresAt < $1.secret.expiresAt })?.secret else {
            if isMissing { return result(.degraded, Trouble(.notPublished, at: .client(name))) }
            // A secret that is only served as a credential lies in no file that others could look at.
            return result(nil, unreadable ?? Trouble(.noOutputs, at: .client(name)))
        }
        let expiry = weakest.expiresAt
        if deadlines.reached(expiry) {
            return result(.critical, Trouble(.secretExpired, at: .client(name), detail: expiry.description))
        }
        if deadlines.reached(expiry - criticalRemainder) {
            return result(.critical, Trouble(.secretExpiring, at: .client(name), detail: expiry.description))
        }
        for (path, secret) in held {
            if let flaw = flaw(of: secret, key: key, evidence, &deadlines) {
                return result(
                    .degraded,
                    Trouble(.notPublished, at: .client(name), detail: "\(Printable.name(path.description)) \(flaw)"))
            }
        }
        if let unreadable { return result(nil, unreadable) }
        if isMissing || held.contains(where: { $0.secret.fingerprint != weakest.fingerprint }) {
            return result(.degraded, Trouble(.notPublished, at: .client(name)))
        }
        // A host's jitter makes a renewal only earlier, so that a daemon that works is never found overdue; one that has
        // just started is about to renew.
        let due = renewal(of: weakest, jitter: 0)
        if !isUnderWay, deadlines.reached(due) {
            return result(.degraded, Trouble(.renewalOverdue, at: .client(name), detail: due.description))
        }
        if evidence == .none { return result(.degraded, Trouble(.signatureUnchecked, at: .client(name))) }
        return result(.ok, nil)
    }

    /// Why a daemon would replace a secret that has not expired; nil where it would not (``accepts(_:key:print:at:)``).
    private func flaw(
        of secret: Issued, key: KeyEntry, _ evidence: SignatureEvidence, _ deadlines: inout Deadlines
    ) -> String? {
        if !names(secret, key: key) { return "holds one of key id \(secret.keyID) of team \(secret.team)" }
        if !hasCome(secret, &deadlines) { return "holds one issued in the future, at \(secret.issuedAt)" }
        if isTooLong(secret, &deadlines) { return "holds one that lasts longer than Apple allows" }
        if case .key(let print) = evidence, secret.signer != print { return "holds one of another key of the same id" }
        return nil
    }
}
