package import AppleClientSecret

/// How a client's secret stands, told from the configuration and what its outputs hold alone: with no daemon to say what
/// it is doing about it.
///
/// The thresholds are those of the daemon's own judgement (`Health.swift`); what only a daemon knows, such as whether
/// applications were told, is left out.
package struct Appraisal: Hashable, Sendable {
    package let client: ClientName
    /// Nil when it cannot be told.
    package let standing: Standing?
    /// Why it is not ``Standing/ok``.
    package let trouble: Trouble?
    /// When the secret that ends first ends; nil when an output holds none.
    package let expiresAt: WallTime?
}

extension Configuration {
    /// Judges every client, in the order of their names.
    ///
    /// - Parameters:
    ///   - files: what was found at the outputs' paths, or why nothing could be.
    ///   - keys: the keys that could be read, so that a secret that none of them signed is a forged one. Of another
    ///     key's secrets the signature goes unjudged.
    package func appraise(
        _ files: [AbsolutePath: Result<Look, Trouble>], keys: Set<KeyName>, at now: WallTime
    ) -> [Appraisal] {
        clients.sorted { $0.key < $1.key }.map { name, entry in
            appraise(name, entry, files, isKeyKnown: keys.contains(entry.key), at: now)
        }
    }

    private func appraise(
        _ name: ClientName, _ entry: ClientEntry, _ files: [AbsolutePath: Result<Look, Trouble>], isKeyKnown: Bool,
        at now: WallTime
    ) -> Appraisal {
        func result(_ standing: Standing?, _ trouble: Trouble?, _ expiry: WallTime? = nil) -> Appraisal {
            Appraisal(client: name, standing: standing, trouble: trouble, expiresAt: expiry)
        }
        var held: [Issued] = []
        var unreadable: Trouble?
        for output in entry.outputs {
            switch files[output.path] {
            // An application of another user may well read what this one may not.
            case .failure(let trouble) where trouble.code == .permissionDenied: unreadable = unreadable ?? trouble
            case .failure(let trouble): return result(.critical, trouble)
            case nil: return result(.critical, Trouble(.noSecret, at: .path(output.path)))
            case .success(let look):
                guard let issued = look.slots[Slot(output.format)]?.issued, issued.client == entry.clientID,
                    !isKeyKnown || issued.signer != nil
                else { return result(.critical, Trouble(.noSecret, at: .path(output.path))) }
                held.append(issued)
            }
        }
        guard let weakest = held.min(by: { $0.expiresAt < $1.expiresAt }) else {
            // A secret that is only served as a credential lies in no file that others could look at.
            return result(nil, unreadable ?? Trouble(.noOutputs, at: .client(name)))
        }
        let expiry = weakest.expiresAt
        if now >= expiry {
            return result(.critical, Trouble(.secretExpired, at: .client(name), detail: expiry.description), expiry)
        }
        if now >= expiry - entry.criticalRemainder {
            return result(.critical, Trouble(.secretExpiring, at: .client(name), detail: expiry.description), expiry)
        }
        if let unreadable { return result(nil, unreadable, expiry) }
        let isOfThisKey = keys[entry.key].map { $0.team == weakest.team && $0.keyID == weakest.keyID } == true
        if !isOfThisKey || held.contains(where: { $0.fingerprint != weakest.fingerprint }) {
            return result(.degraded, Trouble(.notPublished, at: .client(name)), expiry)
        }
        // A host's jitter makes a renewal only earlier, so that a daemon that works is never found overdue.
        let due = entry.renewal(of: weakest, jitter: 0)
        if now >= due {
            return result(.degraded, Trouble(.renewalOverdue, at: .client(name), detail: due.description), expiry)
        }
        return result(.ok, nil, expiry)
    }
}
