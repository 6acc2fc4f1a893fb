import AppleClientSecret
package import Model
import Rotation

/// What the contract says of times, computed independently of the core.
extension ClientConfiguration {
    /// When a secret is to be replaced on a host whose jitter is from 0 to 1: `renew_before` ahead of its expiry, or of
    /// the end of the configured lifetime where that comes first, up to a twentieth of `renew_before` earlier, and a
    /// minute after it was made at the soonest.
    func due(of issued: SecretInfo, jitter: Double) -> WallTime {
        let made = issued.issuedAt.secondsSinceEpoch + 60
        let end = min(issued.expiresAt.secondsSinceEpoch, made + lifetime.seconds.count)
        let early = Int64(Double(renewBefore.count / 20) * jitter)
        return WallTime(secondsSinceEpoch: max(end - renewBefore.count - early, made + 60))
    }

    /// From when on it may be replaced in the batch of one that is due and shares a file or an action.
    func dueTogether(of issued: SecretInfo, jitter: Double) -> WallTime {
        let made = issued.issuedAt.secondsSinceEpoch + 60
        let alone = due(of: issued, jitter: jitter).secondsSinceEpoch
        return WallTime(secondsSinceEpoch: max(alone - renewBefore.count / 20, made + 60))
    }

    /// From when on a secret makes its client critical.
    func criticalFrom(_ issued: SecretInfo) -> WallTime {
        issued.expiresAt - Seconds(renewBefore.count / 3)
    }

    /// Whether it shares a file or an action with another client.
    func shares(with other: ClientConfiguration) -> Bool {
        let paths = Set(outputs.map(\.path))
        let actions = Set(onChange.map(\.id))
        return other.outputs.contains { paths.contains($0.path) } || other.onChange.contains { actions.contains($0.id) }
    }
}

extension SecretInfo {
    /// Whether of two secrets of one key this one goes before the other.
    func isLater(than other: SecretInfo) -> Bool {
        (issuedAt, fingerprint.leadingBytes) > (other.issuedAt, other.fingerprint.leadingBytes)
    }

    /// Whether Apple refuses its times at a moment, apart from its expiry: it would live for too long, where Apple names a limit.
    func livesTooLong(at moment: WallTime) -> Bool {
        switch client.kind {
        case .signIn, .music: expiresAt.secondsSinceEpoch - moment.secondsSinceEpoch > 15_777_000
        case .appleAds: expiresAt.secondsSinceEpoch - issuedAt.secondsSinceEpoch > 180 * 86_400
        case .maps: false
        }
    }
}

extension Simulator {
    /// Whether a secret fits the configuration and Apple would accept it.
    func isUsable(_ issued: SecretInfo, _ entry: ClientConfiguration) -> Bool {
        guard let key = outside.configuration.keys[entry.key] else { return false }
        return issued.client == entry.clientID && issued.team == key.team && issued.keyID == key.keyID
            && issued.signer == outside.prints[entry.key] && issued.issuedAt <= now.wall && now.wall < issued.expiresAt
            && !issued.livesTooLong(at: now.wall)
    }

    /// Whether a secret could still serve a client as it is configured.
    func isWanted(_ issued: SecretInfo, of client: ClientName) -> Bool {
        outside.configuration.clients[client].map { isUsable(issued, $0) } ?? false
    }

    /// The usable secret that all of a client's outputs hold; nil unless all can be read and written.
    func published(_ client: ClientName) -> SecretInfo? {
        guard let entry = outside.configuration.clients[client], let first = entry.outputs.first,
            let issued = outside.secret(in: first), isUsable(issued, entry),
            entry.outputs.allSatisfy({ outside.secret(in: $0) == issued && outside.isInOrder($0.path) })
        else { return nil }
        return issued
    }

    /// Whether all outputs and applications of a client hold one usable secret.
    package func isServed(_ client: ClientName) -> Bool {
        guard let entry = outside.configuration.clients[client], let issued = published(client) else { return false }
        return entry.onChange.allSatisfy { outside.held[.init(client: client, action: $0.id)] == issued }
    }

    /// Whether a client's secret is published everywhere and not due yet, neither by itself nor in a batch.
    func isFresh(_ client: ClientName) -> Bool {
        guard let entry = outside.configuration.clients[client], let issued = published(client),
            now.wall < entry.due(of: issued, jitter: renewalJitter)
        else { return false }
        return now.wall < entry.dueTogether(of: issued, jitter: renewalJitter)
            || !sharers(of: client).contains { isAnyDue($0) }
    }

    /// The clients whose secrets a request renews.
    func whoIsRenewed(_ renewal: DaemonRequest.Renewal) -> Set<ClientName> {
        let asked = renewal.clients.isEmpty ? Set(outside.configuration.clients.keys) : renewal.clients
        guard let span = renewal.dueWithin else { return asked }
        return asked.filter { name in
            guard let entry = outside.configuration.clients[name], let issued = published(name) else { return true }
            return entry.due(of: issued, jitter: renewalJitter) <= now.wall + span
        }
    }

    /// The clients that share a file or an action with this one; in the scenario they share with no others.
    func sharers(of client: ClientName) -> [ClientName] {
        guard let entry = outside.configuration.clients[client] else { return [] }
        return outside.configuration.clients.filter { $0.key != client && entry.shares(with: $0.value) }.keys.sorted()
    }

    /// Whether some output of a client holds a secret that is due, or none.
    private func isAnyDue(_ client: ClientName) -> Bool {
        guard let entry = outside.configuration.clients[client] else { return false }
        return entry.outputs.contains { output in
            outside.secret(in: output).map { now.wall >= entry.due(of: $0, jitter: renewalJitter) } ?? true
        }
    }

    /// Clients that share a file or an action are renewed together once one of them is due.
    func checkTogether(_ step: Step) throws {
        let minted = Set(step.start.compactMap { if case .mint(let client, _, _) = $0.work { client } else { nil } })
        for client in minted where watch.quiet(client, at: boot) > 20_000 {
            for other in sharers(of: client) where !minted.contains(other) && watch.quiet(other, at: boot) > 20_000 {
                guard let entry = outside.configuration.clients[other], let issued = published(other),
                    watch.isOwed(other, entry, isSynced: isSynced, at: boot), !watch.isMinting(other),
                    !verdicts.isHeldBack(other),
                    now.wall >= entry.dueTogether(of: issued, jitter: renewalJitter)
                else { continue }
                throw Violation(.pace, "\(client) is renewed without \(other), which shares with it and is due soon")
            }
        }
    }
}
