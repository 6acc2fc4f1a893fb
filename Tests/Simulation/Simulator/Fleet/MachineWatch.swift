import AppleClientSecret
import Failures
import Model
import Rotation

/// What the contract says of one machine's secrets, computed independently of the core.
extension Machine {
    /// What the first output holds, unless another program has written it.
    var published: SecretInfo? { published(FleetScenario.outputs[0]) }

    func published(_ output: Output) -> SecretInfo? {
        guard let file = outside.files[output.path], !file.damaged.contains(output.slot) else { return nil }
        return file.slots[output.slot]?.secret
    }

    /// The place in the order of preference of the key that has signed a secret; nil for none of this machine's.
    func rank(of secret: SecretInfo) -> Int? {
        entry.keys.firstIndex { name in
            let key = outside.configuration.keys[name]
            return secret.signer != nil && secret.signer == outside.prints[name] && secret.keyID == key?.keyID
                && secret.team == key?.team && secret.client == entry.clientID
        }
    }

    /// Whether a secret may not be in force on this machine, by its own clock; one that has merely expired may.
    func isWrong(_ secret: SecretInfo) -> Bool {
        rank(of: secret) == nil || areTimesRefused(secret)
    }

    /// Whether Apple refuses a secret's times by this machine's clock, apart from its expiry.
    func areTimesRefused(_ secret: SecretInfo) -> Bool {
        secret.issuedAt > now.wall + 60 || secret.livesTooLong(at: now.wall)
    }

    /// A ninth of a received secret's life, in which it is critical.
    func isCritical(_ secret: SecretInfo) -> Bool {
        secret.expiresAt - entry.criticalRemainder(of: secret) <= now.wall
    }

    /// Whether a secret is preferred to another one, both of them possible.
    func prefers(_ one: SecretInfo, to other: SecretInfo) -> Bool {
        guard let rank = rank(of: one) else { return false }
        guard let otherRank = self.rank(of: other) else { return true }
        if other.expiresAt <= now.wall { return true }
        let critical = max(entry.criticalRemainder(of: one), entry.criticalRemainder(of: other))
        if one.expiresAt <= other.expiresAt, one.expiresAt - critical <= now.wall { return false }
        if rank != otherRank { return rank < otherRank || isCritical(other) }
        return one.isLater(than: other)
    }

    /// Whether nothing of it is broken.
    var isGood: Bool { isGoodApartFromActions && outside.broken.actions.isEmpty }

    /// The same where applications that do not come back may be what is broken.
    var isGoodApartFromActions: Bool {
        var broken = outside.broken
        broken.actions = [:]
        return isAlive && broken == Broken() && clocks.error == 0 && clocks.isSynced
    }

    /// What the status should say of the source.
    var expectedSource: SourceView.State {
        if board != nil { return expectedStoreState }
        return switch outside.offer {
        case nil: .missing
        case .junk: .wrong
        case .huge, .unreadable: .unreachable
        case .secret(let secret): state(of: secret)
        }
    }

    /// What a secret makes of the source that holds it.
    func state(of secret: SecretInfo) -> SourceView.State {
        if isWrong(secret) { return .wrong }
        if secret.expiresAt <= now.wall { return .stale }
        guard let current, secret != current, !prefers(secret, to: current) else { return .current }
        return .stale
    }
}

/// Records what one machine of a fleet does, to check what is promised of it.
struct MachineWatch {
    /// How long, in milliseconds, the slowest retry takes after everything works again: the action's.
    static let timeout: Int64 = 1_300_000
    static let fiveMinutes: Int64 = 300_000

    private var bornAt: Int64
    /// When an output last changed.
    private var changedAt: Int64 = 0
    /// What each output held after the last step.
    private var held: [AbsolutePath: SecretInfo] = [:]
    /// The latest secret of each key that the living daemon can know to have been published.
    private var latest: [KeyID: SecretInfo] = [:]
    private var puts = StoreWatch()

    init(_ machine: Machine) {
        bornAt = machine.bornAt
    }

    /// Checks everything that is promised at a moment.
    mutating func see(_ machine: Machine, _ made: [Fingerprint: SecretInfo]) throws {
        if machine.outside.broken != Broken() || machine.clocks.error != 0 { machine.harm() }
        try checkOutputs(machine, made)
        if machine.isAlive {
            try checkFreshness(machine)
            try checkHealth(machine)
        }
        try puts.see(machine)
        try RolloutWatch.see(machine)
    }

    // MARK: Outputs

    private mutating func checkOutputs(_ machine: Machine, _ made: [Fingerprint: SecretInfo]) throws {
        let isStarting = !machine.isAlive || machine.bornAt != bornAt
        if machine.bornAt != bornAt { puts = StoreWatch() }
        bornAt = machine.bornAt
        if isStarting { forget(machine, made) }
        for output in FleetScenario.outputs {
            guard let file = machine.outside.files[output.path] else {
                if held[output.path] != nil, !machine.deleted.contains(output.path) {
                    throw FleetViolation(.kept, "\(output.path) is gone from \(machine.name)")
                }
                held[output.path] = nil
                continue
            }
            machine.deleted.remove(output.path)
            guard !file.damaged.contains(output.slot) else {
                held[output.path] = nil
                continue
            }
            guard let secret = file.slots[output.slot]?.secret else {
                throw FleetViolation(.kept, "\(output.path) holds no secret any more on \(machine.name)")
            }
            guard secret != held[output.path] else { continue }
            try checkGenuine(secret, output, machine, made)
            held[output.path] = secret
            changedAt = machine.boot
            guard !machine.isSigner, !isStarting, let truth = made[secret.fingerprint] else { continue }
            // What Apple refuses, because it has expired or a wrong clock made it, is no loss.
            let now = machine.now.wall
            if let last = latest[truth.keyID], last.isLater(than: truth), last.expiresAt > now,
                last.issuedAt <= now + 60
            {
                throw FleetViolation(
                    .forward, "\(machine.name) goes back from \(last.fingerprint) to \(truth.fingerprint)")
            }
            latest[truth.keyID] = truth
        }
    }

    private func checkGenuine(
        _ secret: SecretInfo, _ output: Output, _ machine: Machine, _ made: [Fingerprint: SecretInfo]
    ) throws {
        guard let truth = made[secret.fingerprint], truth.signer != nil, truth.client == machine.clientID,
            truth.keyID == secret.keyID
        else {
            throw FleetViolation(.genuine, "\(output.path) holds on \(machine.name) what no pinned key has signed")
        }
    }

    /// Keeps only what a daemon that has just started can know.
    private mutating func forget(_ machine: Machine, _ made: [Fingerprint: SecretInfo]) {
        var known = FleetScenario.outputs.filter { machine.outside.broken.serves($0.path) }
            .compactMap(machine.published)
        if !machine.outside.broken.isStateGone, let kept = machine.outside.records[FleetScenario.client]?.current {
            known.append(kept)
        }
        latest = [:]
        for secret in known.compactMap({ made[$0.fingerprint] })
        where latest[secret.keyID].map(secret.isLater) ?? true {
            latest[secret.keyID] = secret
        }
    }

    // MARK: Mints

    /// A signer mints only what is due, missing or asked for.
    func checkMint(_ machine: Machine) throws {
        guard machine.isSigner else { throw FleetViolation(.calm, "\(machine.name) has no key and mints") }
        guard !machine.isForced, machine.isGood else { return }
        try checkMintBesideOthers(machine)
        guard machine.boot - machine.harmedAt > 600_000 else { return }
        let kept = machine.outside.records[FleetScenario.client]?.current
        for secret in FleetScenario.outputs.map(machine.published) + [kept] {
            guard let secret, !machine.isWrong(secret) else { continue }
            if machine.now.wall < machine.entry.due(of: secret, jitter: machine.renewalJitter) {
                throw FleetViolation(.calm, "\(machine.name) mints although its secret is not due")
            }
        }
    }

    /// A signer that reaches the store does not mint beside another signer's secret that is there.
    private func checkMintBesideOthers(_ machine: Machine) throws {
        guard let board = machine.board, machine.link.isGood, let place = machine.places.first,
            let entry = board.places[place], case .secret(let secret) = entry.value, !machine.isWrong(secret),
            machine.now.wall < machine.entry.due(of: secret, jitter: machine.renewalJitter)
        else { return }
        // A pause after failures lasts for five minutes at most, and what tells of no changes is asked every ten.
        let isUsed = machine.boot > machine.madeAt + 60_000
        let since = max(machine.harmedAt, machine.link.changedAt, machine.link.hearsSince) + (isUsed ? 660_000 : 0)
        guard machine.boot >= max(since, entry.at + (machine.link.isDeaf ? 660_000 : 90_000)) else { return }
        throw FleetViolation(.calm, "\(machine.name) mints beside \(secret.fingerprint), which is in the store")
    }

    // MARK: Freshness

    private func checkFreshness(_ machine: Machine) throws {
        guard machine.isGood, machine.boot - machine.disturbedAt > Self.timeout else { return }
        if machine.isSigner {
            guard let secret = machine.published, !machine.isWrong(secret),
                machine.now.wall <= machine.entry.due(of: secret, jitter: machine.renewalJitter) + 300
            else { throw FleetViolation(.fresh, "\(machine.name) holds an overdue secret, or none") }
        } else {
            for (offered, since) in machine.offers { try checkReceived(offered, since, machine) }
        }
        let turn = (machine.entry.source?.deliverOver.count ?? 0) * 1000
        guard let known = machine.published, machine.boot - changedAt > Self.fiveMinutes + turn,
            !machine.mayWait(with: known)
        else { return }
        if machine.outside.held[FleetScenario.reader] != known {
            throw FleetViolation(.fresh, "the application on \(machine.name) holds another secret than its output")
        }
    }

    private func checkReceived(_ offered: SecretInfo, _ since: Int64, _ machine: Machine) throws {
        guard !machine.isWrong(offered), offered.expiresAt > machine.now.wall,
            machine.boot - since > Self.fiveMinutes,
            // It may have been one of the future until then.
            machine.now.wall > offered.issuedAt + Seconds(Self.fiveMinutes / 1000)
        else { return }
        for output in FleetScenario.outputs {
            guard let secret = machine.published(output), !machine.prefers(offered, to: secret) else {
                throw FleetViolation(.fresh, "\(machine.name) was offered \(offered.fingerprint), and lacks it")
            }
        }
    }

    // MARK: Health

    private func checkHealth(_ machine: Machine) throws {
        let newsAt = machine.board == nil ? machine.offeredAt : machine.link.seenChangedAt
        guard machine.isSettled, min(machine.boot - machine.disturbedAt, machine.boot - newsAt) > 20_000,
            let snapshot = Optional(machine.rotation.snapshot(at: machine.now)), snapshot.clockTrusted,
            var view = snapshot.clients.first
        else { return }
        if machine.mistake == .claimsAllIsWell { view.health = .ok }
        if machine.mistake == .hidesHeld, view.reason?.failure.code == .rolloutHeld { view.health = .ok }
        let secrets = FleetScenario.outputs.map(machine.published)
        let held = machine.outside.heldKnowingly(FleetScenario.reader)
        let isUrgent = secrets.contains(nil) || (secrets + [held]).contains { $0.map(machine.isCritical) ?? false }
        if isUrgent, view.health != .critical {
            throw FleetViolation(.honest, "\(machine.name) is \(view.health) while time is running out")
        }
        // As far as its daemon knows what its application holds.
        let kept = machine.outside.records[FleetScenario.client]?.delivered[FleetScenario.action.id]
        if let held, held == kept, machine.areTimesRefused(held), view.health == .ok {
            throw FleetViolation(.honest, "\(machine.name) is ok, and Apple refuses what its application holds")
        }
        let expectedSource = machine.isSigner ? nil : machine.expectedSource
        if let expectedSource {
            if let source = view.source, source.state != expectedSource {
                throw FleetViolation(
                    .honest,
                    "the source of \(machine.name) is \(source.state.rawValue), not \(expectedSource.rawValue)")
            }
            if expectedSource == .wrong, view.health == .ok {
                throw FleetViolation(.honest, "\(machine.name) is ok although its source is wrong")
            }
        }
        guard machine.isGood, machine.boot - machine.disturbedAt > Self.timeout else { return }
        let isOverdue =
            machine.current.map { $0.expiresAt - machine.entry.renewBefore(of: $0) <= machine.now.wall } ?? true
        let isWrong = expectedSource == .wrong
        guard let isReason = isUrgent || isOverdue || isWrong ? true : machine.isStoreReason else { return }
        let expected: HealthState = isUrgent ? .critical : isReason ? .degraded : .ok
        if view.health != expected, view.reason?.failure.code != .keyChanged {
            throw FleetViolation(.honest, "\(machine.name) is \(view.health), and should be \(expected)")
        }
    }
}
