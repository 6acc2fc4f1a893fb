import AppleClientSecret
import Model

/// How a rollout continues, by the machines' reports. A pure function: the caller measures the time.
///
/// - First the canaries are admitted, the machines of the lowest ``RolloutRank``. When all of them have delivered, no other
///   machine is admitted until they were watched for `pause`. A further canary, because one is silent or more machines report,
///   restarts the pause.
/// - Then the others are admitted in steps. At most `at_once` machines are admitted and have not delivered.
/// - A silent machine is admitted on the way, without a wait.
/// - A failing canary holds the rollout, and so does more than one failing machine in twenty.
/// - Unknown facts admit no machine. Nothing continues while no machine reports, or all are silent. A machine whose report is
///   gone may have any rank, so it counts as admitted and not delivered.
/// - All ranks, known or not, are admitted only in one case. Every known machine has delivered or is silent, and every other
///   one would have reported by now.
enum RolloutPolicy {
    /// A machine of the fleet, by its report.
    struct Machine: Hashable {
        let name: String
        let rank: UInt64
        /// It has delivered the secret of the rollout.
        var hasDelivered = false
        /// It holds that secret, and fails to deliver it.
        var isFailing = false
        /// It has not delivered, and gives no sign of life: for ``MachineReport/silence``, or since it was admitted
        /// (``RolloutPolicy/silentFrom(admittedAt:seenAt:readableSince:_:)``).
        var isSilent = false
    }

    /// The known state of the fleet.
    struct Progress {
        /// By rank.
        var machines: [Machine]
        /// How many machines have reported, and have no report now.
        var missing = 0
        /// Whether the canaries have all delivered, and were watched for `pause` since.
        var isPauseOver = false
        /// Whether every running machine has had the time to report.
        var isEverybodyKnown = false
    }

    /// A report is spread over a minute, and read within half a minute. Without a watch the machine reads its secret a minute
    /// late.
    private static let reporting: Seconds = 180

    /// The time from which an admitted machine without a delivery or a further sign of life counts as silent: after `pause`,
    /// but not before its report can have come.
    ///
    /// - Parameters:
    ///   - seenAt: when it has last reported.
    ///   - readableSince: since when reports have been read.
    static func silentFrom(
        admittedAt: BootTime, seenAt: BootTime?, readableSince: BootTime, _ settings: RolloutConfiguration
    ) -> BootTime {
        max(admittedAt, seenAt ?? admittedAt, readableSince) + max(settings.pause, reporting)
    }

    /// The number of canaries: fewer than configured if fewer machines report.
    private static func wanted(_ machines: [Machine], _ settings: RolloutConfiguration) -> Int {
        min(settings.canaries, machines.count { !$0.isSilent })
    }

    /// The machines that a rollout admits.
    ///
    /// - Parameter machines: by rank.
    static func admitted(_ machines: [Machine], by rollout: Rollout) -> ArraySlice<Machine> {
        machines.prefix { rollout.admits($0.rank) }
    }

    /// Whether all wanted canaries have delivered.
    static func haveCanariesDelivered(_ rollout: Rollout, _ machines: [Machine], _ settings: RolloutConfiguration)
        -> Bool
    {
        let wanted = wanted(machines, settings)
        return wanted > 0 && admitted(machines, by: rollout).count { $0.hasDelivered } >= wanted
    }

    /// The rank up to which the canaries of a new rollout are admitted.
    static func beginning(_ progress: Progress, _ settings: RolloutConfiguration) -> UInt64 {
        let room = max(0, settings.canaries - progress.missing)
        return progress.machines.filter { !$0.isSilent }.prefix(room).last?.rank ?? 0
    }

    /// The rollout's next state; the same one if there is nothing to do.
    static func next(_ rollout: Rollout, _ progress: Progress, _ settings: RolloutConfiguration) -> Rollout {
        guard !rollout.admitsAll, rollout.state == .going else { return rollout }
        var next = rollout
        let machines = progress.machines
        let admitted = admitted(machines, by: rollout)
        let wanted = wanted(machines, settings)
        let areDelivered = haveCanariesDelivered(rollout, machines, settings)
        let failing = admitted.count { $0.isFailing }
        let isOfCanaries = !areDelivered || machines.prefix(settings.canaries).contains(where: \.isFailing)
        if failing > rollout.tolerated, isOfCanaries || failing * 20 > machines.count {
            next.state = .held
            return next
        }
        guard wanted > 0 else { return rollout }
        let pending = admitted.count { !$0.hasDelivered && !$0.isSilent } + progress.missing
        var room: Int
        if areDelivered {
            guard progress.isPauseOver else { return rollout }
            room = max(1, machines.count * settings.atOnce / 100) - pending
        } else {
            room = wanted - admitted.count { $0.hasDelivered } - pending
        }
        for machine in machines[admitted.endIndex...] where room > 0 {
            next.admitted = machine.rank
            if !machine.isSilent { room -= 1 }
        }
        if admitted.count == machines.count, areDelivered, pending == 0, progress.isEverybodyKnown {
            next.admitted = .max
        }
        return next
    }
}
