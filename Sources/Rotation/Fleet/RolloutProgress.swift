import AppleClientSecret
import Model

/// The progress of a client's secret that this machine puts into the store.
struct RolloutProgress: Sendable {
    /// As it was last seen in the store, or put there.
    private(set) var rollout: Rollout
    /// The revision of etcd of that; nil while it was never seen there.
    private var revision: Int64?
    /// Since when it has been in its state.
    private(set) var since: WallTime
    /// Each rise of ``Rollout/admitted`` that was seen, with its time: shows since when a machine is admitted.
    private var steps: [Step]
    /// Since when all wanted canaries are known to have delivered.
    private var canariesAt: BootTime?
    /// When it was last put because it was missing.
    private(set) var repairedAt: BootTime?
    /// The share of the reporting machines that are admitted, from 0 to 1.
    private var share = 0.0
    /// The machines that keep it from continuing.
    private(set) var failing: [String] = []
    /// The machines that were admitted, have not delivered, and have given no sign of life for `pause`. The rollout does not
    /// wait for them now.
    private(set) var lost: Set<String> = []
    /// How many machines have reported the client, and have no report now.
    private var missing = 0
    /// When it was first seen. After a day every running machine has reported.
    private let begunAt: BootTime
    /// Whether a machine is waited for, so that the reports are read often.
    private var isMoving = true

    private struct Step: Hashable, Sendable {
        let admitted: UInt64
        let at: BootTime
    }

    static let repairInterval: Seconds = 60

    init(_ rollout: Rollout, at now: Now) {
        self.rollout = rollout
        since = now.wall
        begunAt = now.boot
        steps = [Step(admitted: rollout.admitted, at: now.boot)]
    }

    /// Whether the machines' reports matter now.
    var isGoing: Bool { !rollout.isFinished && rollout.state == .going && isMoving }

    /// Whether the rollout in the store is an earlier state of it, as in a restored backup: one at a smaller revision.
    func isEarlier(_ rollout: Rollout, at revision: Int64) -> Bool {
        guard let known = self.revision, revision < known else { return false }
        return rollout != self.rollout && rollout.secret.isSame(as: self.rollout.secret)
    }

    /// Records its progress.
    ///
    /// - Parameter revision: at which it was found in the store; nil for one that is still to be put there.
    mutating func see(_ rollout: Rollout, revision: Int64?, at now: Now) {
        guard self.rollout.secret.isSame(as: rollout.secret) else {
            self = RolloutProgress(rollout, at: now)
            self.revision = revision
            return
        }
        self.revision = revision ?? self.revision
        guard self.rollout != rollout else { return }
        if self.rollout.state != rollout.state || self.rollout.isFinished != rollout.isFinished {
            since = now.wall
            // After a resume the canaries' pause begins again, so that there is time to see whether they fail again.
            if rollout.state == .going { canariesAt = nil }
        }
        steps.removeAll { $0.admitted > rollout.admitted }
        if rollout.admitted > steps.last?.admitted ?? 0 || steps.isEmpty {
            steps.append(Step(admitted: rollout.admitted, at: now.boot))
        }
        self.rollout = rollout
    }

    mutating func repaired(at now: Now) { repairedAt = now.boot }

    /// Records the machines' reports, and updates the view of the rollout.
    ///
    /// - Parameters:
    ///   - members: the machines that report the client.
    ///   - missing: how many machines have reported it, and have no report now.
    /// - Returns: the facts by which ``RolloutPolicy`` decides.
    mutating func observe(
        _ settings: RolloutConfiguration, _ members: FleetMembers, missing: Int, _ timer: inout WakeTimer
    ) -> RolloutPolicy.Progress {
        self.missing = missing
        var progress = RolloutPolicy.Progress(
            machines: RolloutPolicy.Machine.all(members, of: rollout), missing: missing)
        noteLost(&progress.machines, settings, members, &timer)
        let machines = progress.machines
        let admitted = RolloutPolicy.admitted(machines, by: rollout)
        failing = admitted.filter(\.isFailing).map(\.name)
        share = rollout.isFinished ? 1 : machines.isEmpty ? 0 : Double(admitted.count) / Double(machines.count)
        guard !rollout.isFinished, rollout.state == .going else { return progress }
        if RolloutPolicy.haveCanariesDelivered(rollout, machines, settings) {
            // While they could not report, the canaries were not watched.
            let since = max(canariesAt ?? timer.now.boot, members.readableSince)
            canariesAt = since
            progress.isPauseOver = timer.reached(since + settings.pause)
        } else {
            canariesAt = nil
        }
        // In a new fleet, or a new store, the first reports are still to come, for as long as any machine may need for one.
        let awaitsFirst = machines.isEmpty && !timer.reached(begunAt + MachineReport.silence)
        isMoving =
            awaitsFirst || admitted.count < machines.count
            || machines.contains { !$0.hasDelivered && !$0.isSilent }
        if !isMoving { progress.isEverybodyKnown = timer.reached(begunAt + MachineReport.silence) }
        return progress
    }

    /// Counts admitted machines as silent that have been so for too long since they were admitted.
    private mutating func noteLost(
        _ machines: inout [RolloutPolicy.Machine], _ settings: RolloutConfiguration, _ members: FleetMembers,
        _ timer: inout WakeTimer
    ) {
        let seenAt = Dictionary(members.all.map { ($0.machine, $0.seenAt) }) { one, _ in one }
        // The last step, which admits all machines, waits for none of them.
        let steps = steps.filter { $0.admitted != .max }
        lost = []
        for index in RolloutPolicy.admitted(machines, by: rollout).indices
        where !machines[index].hasDelivered && !machines[index].isSilent {
            let machine = machines[index]
            guard let admittedAt = steps.first(where: { machine.rank <= $0.admitted })?.at else { continue }
            let silentFrom = RolloutPolicy.silentFrom(
                admittedAt: admittedAt, seenAt: seenAt[machine.name], readableSince: members.readableSince, settings)
            guard timer.reached(silentFrom) else { continue }
            lost.insert(machine.name)
            machines[index].isSilent = true
        }
    }

    /// Whether no more machines are admitted until a user decides; nil if it is another secret's.
    func isHeld(_ secret: SecretName) -> Bool? {
        rollout.secret.isSame(as: secret) ? rollout.state == .held : nil
    }

    /// Its progress; nil if it is another secret's.
    func view(of secret: SecretName?) -> RolloutView? {
        guard let secret, rollout.secret.isSame(as: secret) else { return nil }
        return RolloutView(
            share: rollout.isFinished ? 1 : share,
            state: rollout.isFinished ? .finished : rollout.state == .held ? .held : .going, since: since,
            missing: rollout.isFinished ? 0 : missing)
    }
}

extension RolloutPolicy.Machine {
    static func all(_ members: FleetMembers, of rollout: Rollout) -> [RolloutPolicy.Machine] {
        members.all.map { member in
            let holds = member.holding.holds(rollout.secret)
            let hasDelivered = holds && member.holding.delivered
            return RolloutPolicy.Machine(
                name: member.machine, rank: rollout.rank(of: member.machine), hasDelivered: hasDelivered,
                isFailing: holds && !member.isSilent && member.holding.failsToDeliver,
                isSilent: member.isSilent && members.haveHadTime && !hasDelivered)
        }.sorted { $0.rank < $1.rank }
    }
}
