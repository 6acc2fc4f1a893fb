import AppleClientSecret
import Model

/// Where a secret comes from that becomes a client's current one.
enum SecretOrigin {
    /// It was found in the state directory or in an output.
    case found
    /// It was minted, and Apple's acceptance is not required, or no longer.
    case minted
    /// Apple has accepted it.
    case accepted
    /// Apple has not accepted it, and the former secret can no longer be kept.
    case unverified
    /// It came from another machine.
    case received
}

/// How a client's current secret is chosen among those that are known.
///
/// The best usable secret found becomes the current one and stays while it is usable. It is then replaced by a newly minted
/// secret, by one that Apple accepts, or by a greater one from another machine.
extension Rotation {
    /// Makes a secret the current one of a client. Only its record, which is read once, does so too.
    mutating func take(_ secret: SecretInfo, _ origin: SecretOrigin, for client: ConfiguredClient, at now: Now) {
        clients[client].secret.choose(secret)
        switch origin {
        case .found:
            events.append(.tookOver(client.name, secret))
            repeatForOthersFound(than: secret, for: client, at: now)
        case .minted: break
        case .accepted: events.append(.accepted(client.name, secret))
        case .unverified: events.append(.publishedUnverified(client.name, secret))
        case .received:
            drawTurn(of: client, for: secret, at: now)
            clients[client].health.countReceived()
            events.append(.received(client.name, secret))
        }
    }

    /// Runs actions again if files held another secret before the wanted one was known. Applications may have read that other
    /// secret while no daemon ran.
    private mutating func repeatForOthersFound(than secret: SecretInfo, for client: ConfiguredClient, at now: Now) {
        for held in observedSlots(of: client).compactMap(\.held.issued) where held.fingerprint != secret.fingerprint {
            repeatActions(of: client, because: .foundInFile(held), at: now)
        }
    }

    /// Chooses a client's current secret, once all inputs of the decision are known.
    mutating func settle(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        planRecall(client, &timer)
        planSource(client, &timer)
        guard isKnown(client) else { return }
        presumeDelivered(client)
        if client.entry.source == nil {
            settleMinter(client, &timer)
        } else {
            settleReceiver(client, &timer)
        }
    }

    private mutating func settleMinter(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        chooseFoundByMinter(client, at: timer.now)
        planCandidate(client, &timer)
        guard let better = betterInStore(client, &timer), mayReceive(client, &timer) else { return }
        // It replaces a candidate from here.
        dropCandidate(client)
        take(better, .received, for: client, at: timer.now)
    }

    private mutating func settleReceiver(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        if !clients[client].secret.hasChosen { chooseFoundByReceiver(client, at: timer.now) }
        let current = clients[client].secret.current
        let (state, detail, offered) = judgeSource(of: client, over: current, &timer)
        let isWithheld = offered != nil && !mayReceive(client, &timer)
        clients[client].source?.judged(state, detail, isWithheld: isWithheld, at: timer.now)
        if let offered, !isWithheld { take(offered, .received, for: client, at: timer.now) }
    }

    /// Makes the best usable secret found the current one, also one that is due for renewal. Minting may take long, and until
    /// then the outputs must hold a valid secret.
    private mutating func chooseFoundByMinter(_ client: ConfiguredClient, at now: Now) {
        let secret = clients[client].secret
        // By a distrusted clock the current secret may seem issued in the future and an older one valid.
        if secret.hasChosen, clock.failure != nil { return }
        guard let found = WakeTimer.peek(at: now, { usable(client, &$0) }),
            !secret.hasChosen || secret.current != found
        else { return }
        take(found, .found, for: client, at: now)
    }

    /// Makes the best secret that the state directory and the outputs hold the current one.
    private mutating func chooseFoundByReceiver(_ client: ConfiguredClient, at now: Now) {
        let candidates =
            [clients[client].secret.current].compactMap { $0 } + observedSlots(of: client).compactMap(\.held.issued)
        // The candidates' expiry is no reason to wake.
        var timer = WakeTimer(now: now)
        let ranked = candidates.compactMap { issued in rank(of: issued, client).map { (rank: $0, issued: issued) } }
            .sorted { $0.rank == $1.rank ? $1.issued.isGreater(than: $0.issued) : $0.rank > $1.rank }
        var best: SecretInfo?
        for (_, issued) in ranked
        where fits(issued, client, &timer) && objection(to: issued, over: best, client, &timer) == nil {
            best = issued
        }
        if let best { take(best, .found, for: client, at: now) }
    }

    /// The current secret while it is usable; else the best usable one in the outputs.
    func usable(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> SecretInfo? {
        let secret = clients[client].secret
        var candidates: [SecretInfo] = []
        if let current = secret.current, fits(current, client, &timer) {
            if secret.hasChosen { return current }
            candidates.append(current)
        }
        for (_, held) in observedSlots(of: client) {
            if let issued = held.issued, fits(issued, client, &timer) { candidates.append(issued) }
        }
        return client.entry.best(of: candidates)
    }

    /// Another signer's secret in the store that should be current here; nil if there is none. Apple is not asked about it: the
    /// signer that minted it did so, if `verify` is on there.
    func betterInStore(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> SecretInfo? {
        guard let place = placeToPut(client), case .secret(let offered, _)? = storePolling.observed[place],
            offered.signer == place.key, fits(offered, client, &timer)
        else { return nil }
        for held in [clients[client].secret.current, pendingCandidate(client)].compactMap({ $0 })
        where objection(to: offered, over: held, client, &timer) != nil { return nil }
        return timer.reached(client.entry.renewal(of: offered, jitter: renewalJitter)) ? nil : offered
    }

    /// Whether a better secret may become current. No action runs under the last good configuration, so only what becomes
    /// critical is replaced.
    private func mayReceive(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        let secret = clients[client].secret
        guard secret.hasChosen, let current = secret.current else { return true }
        return !configurationWatch.isRestrained || client.entry.isCritical(current, &timer)
    }
}

extension ClientConfiguration {
    /// The best of several usable secrets: the one that lasts longest; among equals, the youngest.
    func best(of candidates: [SecretInfo]) -> SecretInfo? {
        candidates.max { left, right in
            let (one, other) = (end(of: left), end(of: right))
            return one == other ? right.isGreater(than: left) : one < other
        }
    }
}

/// Which of two secrets is better.
///
/// - A secret that may be used replaces the current one if it is greater. It must also outlive the current one, or have more
///   life left than is critical for the longer-lived of both. An expired current secret yields to any that is valid.
/// - Of two secrets of one key, the greater is the one issued later, then the one with the greater digest of the signing input.
///   Of two keys, the one that the configuration names first wins whenever its secret was issued, unless that secret is
///   critical.
extension Rotation {
    /// Why a secret that may be used does not replace the current one; nil when it does.
    func objection(
        to issued: SecretInfo, over current: SecretInfo?, _ client: ConfiguredClient, _ timer: inout WakeTimer
    ) -> String? {
        // By a clock that is not trusted, or may be ahead, none counts as expired or critical: only a greater one replaces it.
        let tellsLife = clock.failure == nil && spared(client, &timer) == nil
        // Any usable secret replaces one that has expired, or that Apple refuses, such as one minted by a wrong clock.
        guard let current, let held = rank(of: current, client), let offered = rank(of: issued, client),
            !tellsLife || !timer.reached(current.expiresAt),
            refusal(of: current, for: client, &timer).map({ !tellsLife && $0.isAboutTime }) != false
        else { return nil }
        // The longer-lived secret defines too soon: an hour left is too little to replace one minted for 90 days.
        let critical = max(client.entry.criticalRemainder(of: issued), client.entry.criticalRemainder(of: current))
        if issued.expiresAt <= current.expiresAt, timer.reached(issued.expiresAt - critical) {
            return "it expires too soon, at \(issued.expiresAt)"
        }
        if offered == held {
            return issued.isGreater(than: current) ? nil : "it is older than the current one"
        }
        if offered > held, !tellsLife || !client.entry.isCritical(current, &timer) {
            return "a preferred key signed the current one"
        }
        return nil
    }
}

extension SecretInfo {
    /// Whether it comes after another secret of the same key: by `iat`, and within one second by the digest of the signed text.
    fileprivate func isGreater(than other: SecretInfo) -> Bool {
        (issuedAt, order) > (other.issuedAt, other.order)
    }

    private var order: UInt64 { (name.signed ?? name.fingerprint).leadingBytes }
}
