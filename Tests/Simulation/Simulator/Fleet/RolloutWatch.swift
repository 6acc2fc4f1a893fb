import AppleClientSecret
import Rotation

/// Records what one machine does about rollouts, to check what is promised of it.
struct RolloutWatch {
    private let settings: RolloutSettings
    private var bornAt: Int64
    /// When a signer was first told that enough canaries have delivered a secret.
    private var canariesAt: [Fingerprint: Int64] = [:]
    /// What a signer put last. What was answered with an error is put again, whatever it could learn since.
    private var lastPut: Rollout?
    /// The rollout that a signer should hold, as far as it was told, and since when.
    private var toBeHeld: (rollout: Rollout, since: Int64)?

    init(_ machine: Machine, _ settings: RolloutSettings) {
        self.settings = settings
        bornAt = machine.bornAt
    }

    mutating func see(_ machine: Machine) throws {
        if machine.bornAt != bornAt {
            canariesAt = [:]
            lastPut = nil
            toBeHeld = nil
        }
        bornAt = machine.bornAt
        defer {
            machine.rolloutPuts = []
            machine.deliveries = []
        }
        for put in machine.rolloutPuts {
            try check(put, machine)
            lastPut = put.rollout
        }
        for delivery in machine.deliveries { try check(delivery, machine) }
        guard machine.isSigner, machine.isAlive, let place = machine.places.first else { return }
        noteCanaries(machine, place)
        try checkHolding(machine, place)
    }

    // MARK: Signers

    /// How far a rollout is, by the reports that a signer has read.
    private struct RolloutProgress {
        /// In the order in which they are admitted.
        let members: [(rank: UInt64, member: Told.Member)]
        let delivered: Int
        /// Those that are admitted and fail.
        let failing: Int
        let isCanaryFailing: Bool
        /// How many canaries are waited for at least.
        let wanted: Int

        init?(_ rollout: Rollout, _ told: Told, _ settings: RolloutSettings) {
            guard let known = told.members else { return nil }
            let secret = rollout.fingerprint
            members = known.map { (Rank.of($0.machine, secret), $0) }.sorted { $0.rank < $1.rank }
            let admitted = members.prefix { $0.rank <= rollout.admitted }
            delivered = admitted.count { $0.member.hasDelivered(secret) }
            failing = admitted.count { $0.member.isFailing(secret) }
            let canaries = members.prefix(settings.canaries)
            isCanaryFailing = canaries.contains {
                $0.rank <= rollout.admitted && $0.member.isFailing(secret) && $0.member.isAlive
            }
            wanted = min(
                settings.canaries, members.count { $0.member.isAlive || $0.member.hasDelivered(secret) })
        }

        /// How many are admitted up to a rank, have not delivered, and are surely waited for.
        func pending(upTo admitted: UInt64, _ secret: Fingerprint, isWaitedFor: (UInt64, Told.Member) -> Bool) -> Int {
            members.count { rank, member in
                rank <= admitted && !member.hasDelivered(secret) && member.isAlive && isWaitedFor(rank, member)
            }
        }
    }

    /// What a signer decides about a rollout follows from what it was told, and undoes nothing that others have done.
    private func check(_ put: Machine.RolloutPut, _ machine: Machine) throws {
        // By a wrong clock a machine judges others wrongly.
        guard machine.clocks.error == 0, machine.boot - machine.harmedAt > 600_000 else { return }
        let rollout = put.rollout
        let orders = machine.orders.filter { $0.secret == rollout.fingerprint }.map(\.order)
        switch put.reason {
        case .replaced(let found?) where found.fingerprint == rollout.fingerprint:
            try checkGoingOn(rollout, over: found, orders, machine)
        case .replaced: break
        case .told(let told, let at):
            if orders.contains(.finish) { return }
            guard let known = told.rollouts[put.place]?.known, known.fingerprint == rollout.fingerprint else {
                return try checkBeginning(rollout, told, machine)
            }
            try checkGoingOn(rollout, over: known, orders, machine)
            if rollout.admitted > known.admitted { try checkStep(rollout, known, told, at, machine) }
            guard rollout.state == .held, known.state == .going, !orders.contains(.hold) else { return }
            if let progress = RolloutProgress(known, told, settings), progress.failing > 0 { return }
            throw FleetViolation(.held, "\(machine.name) holds a rollout although no machine fails")
        }
    }

    /// Nobody lets a rollout go on that is held, unless asked to.
    private func checkGoingOn(
        _ rollout: Rollout, over found: Rollout, _ orders: [RolloutOrder], _ machine: Machine
    ) throws {
        guard found.state == .held, rollout.state == .going || rollout.admitted > found.admitted,
            !orders.contains(.resume), !orders.contains(.finish)
        else { return }
        throw FleetViolation(.held, "\(machine.name) lets a rollout go on that is held")
    }

    /// A new rollout admits the canaries alone, or whoever was admitted before.
    private func checkBeginning(_ rollout: Rollout, _ told: Told, _ machine: Machine) throws {
        if rollout == lastPut || rollout.admitted == 0 { return }
        if machine.board?.admittedAt(rollout.admitted, to: rollout.fingerprint) != nil { return }
        guard let progress = RolloutProgress(rollout, told, settings) else {
            throw FleetViolation(.bounded, "\(machine.name) begins a rollout without a look at what machines report")
        }
        let pending = progress.pending(upTo: rollout.admitted, rollout.fingerprint) { _, _ in true }
        guard pending > settings.canaries else { return }
        throw FleetViolation(.bounded, "\(machine.name) begins a rollout with \(pending) machines at once")
    }

    /// A step admits no more than may deliver at once, after the pause.
    private func checkStep(
        _ rollout: Rollout, _ known: Rollout, _ told: Told, _ at: Int64, _ machine: Machine
    ) throws {
        let secret = rollout.fingerprint
        guard let progress = RolloutProgress(known, told, settings) else {
            throw FleetViolation(.bounded, "\(machine.name) admits machines without a look at what they report")
        }
        let pause = settings.pause.count * 1000
        let pending = progress.pending(upTo: rollout.admitted, secret) { rank, member in
            at < max(machine.board?.admittedAt(rank, to: secret) ?? at, member.seenAt) + pause
        }
        // The core may know of fewer that are waited for, and be further than this says.
        let mayBeFurther = progress.delivered >= progress.wanted
        var limit = 0
        if progress.delivered < min(settings.canaries, progress.members.count) {
            limit = settings.canaries - progress.delivered
        } else if at < (canariesAt[secret] ?? at) + pause {
            throw FleetViolation(.bounded, "\(machine.name) goes on before the canaries were watched for long enough")
        }
        if mayBeFurther { limit = max(limit, 1, progress.members.count * settings.atOnce / 100) }
        if pending > limit {
            throw FleetViolation(.bounded, "\(machine.name) lets \(pending) machines deliver at once, not \(limit)")
        }
    }

    private mutating func noteCanaries(_ machine: Machine, _ place: StorePlace) {
        guard let rollout = machine.told.rollouts[place]?.known, canariesAt[rollout.fingerprint] == nil,
            let progress = RolloutProgress(rollout, machine.told, settings), progress.delivered >= progress.wanted
        else { return }
        canariesAt[rollout.fingerprint] = machine.boot
    }

    /// A canary that fails holds a rollout, and says so, within five minutes.
    private mutating func checkHolding(_ machine: Machine, _ place: StorePlace) throws {
        guard let rollout = machine.told.rollouts[place]?.known, rollout.state == .going, rollout.admitted < .max,
            rollout.fingerprint == machine.current?.fingerprint, machine.isGood, machine.link.isGood,
            machine.boot - max(machine.harmedAt, machine.bornAt, machine.link.changedAt) > MachineWatch.patience,
            case .secret(let secret)? = machine.board?.places[place]?.value, secret == machine.current,
            let progress = RolloutProgress(rollout, machine.told, settings), progress.isCanaryFailing,
            progress.failing > rollout.tolerated
        else {
            toBeHeld = nil
            return
        }
        guard let toBeHeld, toBeHeld.rollout == rollout else {
            toBeHeld = (rollout, machine.boot)
            return
        }
        if machine.boot - toBeHeld.since > MachineWatch.fiveMinutes {
            throw FleetViolation(.held, "\(machine.name) does not hold a rollout although a canary fails")
        }
    }

    // MARK: Followers

    /// Whoever is not admitted delivers nothing before its deadline, unless its applications cannot wait.
    private func check(_ delivery: Machine.Delivery, _ machine: Machine) throws {
        guard delivery.isAdmitted == false, machine.damagedAt <= machine.ranAt else { return }
        let held = machine.heldPossibly
        let mayDeliver = held.contains { held in
            held == delivery.secret || machine.isCritical(held)
                || machine.now.wall >= machine.deadline(of: delivery.secret, holding: held)
        }
        if held.isEmpty || mayDeliver { return }
        throw FleetViolation(.held, "\(machine.name) delivers \(delivery.secret.fingerprint) and is not admitted")
    }
}
