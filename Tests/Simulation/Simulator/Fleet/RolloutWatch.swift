import AppleClientSecret
import Model
import Rotation

/// Checks what is promised of what one machine does about rollouts, by what it was told of them.
enum RolloutWatch {
    static func see(_ machine: Machine) throws {
        defer { machine.rolloutPuts = [] }
        for put in machine.rolloutPuts { try check(put, machine) }
        for case .began(let delivery) in machine.acts { try check(delivery, machine) }
    }

    /// No signer lets a held rollout go on, unless asked to.
    private static func check(_ put: Machine.RolloutPut, _ machine: Machine) throws {
        // By a wrong clock a machine judges others wrongly.
        guard machine.clocks.error == 0, machine.boot - machine.harmedAt > 600_000 else { return }
        let rollout = put.rollout
        let orders = machine.orders.filter { $0.secret == rollout.secret.fingerprint }.map(\.order)
        let found: Rollout? =
            switch put.reason {
            case .replaced(let found?, knowing: let latest?) where latest.isLater(than: found): latest.known
            case .replaced(let found, knowing: _): found?.known
            case .told(let told): told.latest[put.place]?.known
            }
        guard let found, found.secret.isSame(as: rollout.secret), found.state == .held,
            rollout.state == .going || rollout.admitted > found.admitted,
            !orders.contains(.resume), !orders.contains(.finish)
        else { return }
        throw FleetViolation(.held, "\(machine.name) lets a rollout go on that is held")
    }

    /// A machine that is not admitted delivers nothing before its deadline, unless its applications cannot wait.
    private static func check(_ delivery: Machine.Delivery, _ machine: Machine) throws {
        guard delivery.isAdmitted == false, !delivery.needsNoAdmission else { return }
        throw FleetViolation(.held, "\(machine.name) delivers \(delivery.secret.fingerprint) and is not admitted")
    }
}

/// Watches what the machines of a fleet do with each secret, whatever a signer thinks of it: how many act at once, and
/// whether they go on after a canary has failed.
///
/// A machine acts when its action begins to run for a secret for the first time, although its application could wait.
struct ActionWatch {
    private let settings: RolloutConfiguration
    private var courses: [Fingerprint: Course] = [:]

    private struct Course {
        /// When the secret was minted.
        let since: Int64
        /// The machines that have acted, in touch or not, in their order: the first ones are the canaries.
        var tried: [String] = []
        /// Those that were in touch, and when.
        var begun: [(machine: String, at: Int64)] = []
        /// The machines whose application has the secret, and since when.
        var done: [String: Int64] = [:]
        /// The same of signers, which wait for nobody: by rank one may be a canary, and is watched as one.
        var doneSigners: [String: Int64] = [:]
        /// Since when a canary says in the store that it fails, and a signer could know.
        var failingSince: Int64?
        /// Since when no further machine may act.
        var heldSince: Int64?
        /// Whether a stranger, an operator or a wrong clock may have let machines act.
        var isDoubtful = false

        /// Notes whether a canary says in the store that it fails, and a signer can know.
        mutating func note(isFailing: Bool, at boot: Int64) {
            guard isFailing else {
                failingSince = nil
                return
            }
            let since = failingSince ?? boot
            failingSince = since
            if boot - since > MachineWatch.fiveMinutes { heldSince = heldSince ?? boot }
        }
    }

    init(_ settings: RolloutConfiguration) {
        self.settings = settings
    }

    /// Notes a secret when it is minted.
    mutating func note(_ secret: SecretInfo, at boot: Int64) { courses[secret.fingerprint] = Course(since: boot) }

    private var pause: Int64 { settings.pause.count * 1000 }

    /// Within what time a signer has read a report, in milliseconds.
    private static let readingTime: Int64 = 60_000

    mutating func see(_ machine: Machine, in fleet: Fleet) throws {
        defer { machine.acts = [] }
        for act in machine.acts {
            switch act {
            case .began(let delivery): try begin(delivery, machine, fleet)
            case .ended(let secret): end(secret, machine)
            }
        }
        try look(at: fleet)
    }

    /// Whether a machine is in a state in which it can be expected to act when it is let, and to say so.
    private static func isInTouch(_ machine: Machine) -> Bool {
        machine.isGoodApartFromActions && machine.link.isGood
            && machine.boot - max(machine.harmedAt, machine.bornAt, machine.link.changedAt) > MachineWatch.timeout
    }

    private mutating func begin(_ delivery: Machine.Delivery, _ machine: Machine, _ fleet: Fleet) throws {
        let secret = delivery.secret.fingerprint
        var course = courses[secret] ?? Course(since: machine.boot)
        defer { courses[secret] = course }
        if !delivery.needsNoAdmission, !course.tried.contains(machine.name) { course.tried.append(machine.name) }
        guard !delivery.needsNoAdmission, Self.isInTouch(machine),
            !course.begun.contains(where: { $0.machine == machine.name })
        else { return }
        let earlier = course.begun
        let rank = machine.order(of: delivery.secret)
        // One that has said nothing for a pause is not waited for, and comes back when it can.
        if let admittedAt = machine.board?.admittedAt(rank, to: secret), machine.boot - admittedAt >= pause { return }
        course.begun.append((machine.name, machine.boot))
        if course.isDoubtful { return }
        // Signers that have lost the store and their memory have to see the failure again.
        if let heldSince = course.heldSince, machine.boot > heldSince,
            machine.board?.rolloutTamperedAt ?? 0 < heldSince
        {
            let admittedAt = machine.board?.admittedAt(rank, to: secret)
            if admittedAt.map({ $0 > heldSince }) ?? true {
                throw FleetViolation(.held, "\(machine.name) delivers \(secret) although a canary has failed")
            }
        }
        let admittedAt = machine.board?.admittedAt(rank, to: secret) ?? machine.boot
        let waitedFor = earlier.filter { !wasSilent($0.machine, about: secret, since: $0.at, machine, at: admittedAt) }
        let canaries = course.done.merging(course.doneSigners.filter { RolloutRank.of($0.key, secret) < rank }) {
            one, _ in one
        }
        if canaries.values.count(where: { machine.boot - $0 >= pause }) >= settings.canaries {
            let acting = waitedFor.count { course.done[$0.machine] == nil } + 1
            let all = max(fleet.machines.count, fleet.board?.reports.count ?? 0)
            guard acting > max(1, all * settings.atOnce / 100) else { return }
            throw FleetViolation(.bounded, "\(acting) machines deliver \(secret) at once")
        }
        if waitedFor.count >= settings.canaries {
            throw FleetViolation(
                .bounded, "\(machine.name) delivers \(secret) before the canaries were watched for long enough")
        }
    }

    /// Whether a machine had been admitted for a pause at a moment when another one was, and had not said in the store that it has
    /// delivered, in time for a signer that reads the reports each half minute.
    private func wasSilent(
        _ name: String, about secret: Fingerprint, since begun: Int64, _ machine: Machine, at moment: Int64
    ) -> Bool {
        let admittedAt = machine.board?.admittedAt(RolloutRank.of(name, secret), to: secret) ?? begun
        guard moment - admittedAt >= pause else { return false }
        guard let report = machine.board?.reports[name], report.at < moment - Self.readingTime,
            let holding = report.value?.clients[FleetScenario.identity]
        else { return true }
        return !holding.delivered || holding.secret?.fingerprint != secret
    }

    private mutating func end(_ secret: SecretInfo, _ machine: Machine) {
        let part = machine.isSigner ? \Course.doneSigners : \Course.done
        courses[secret.fingerprint, default: Course(since: machine.boot)][keyPath: part][machine.name] = machine.boot
    }

    private mutating func look(at fleet: Fleet) throws {
        guard let board = fleet.board else { return }
        let signers = fleet.signers
        let isClockWrong = signers.contains { $0.clocks.error != 0 }
        let ordered = Set(signers.flatMap(\.orders).filter { $0.order != .hold }.map(\.secret))
        let failing = secretThatFails(board, fleet)
        for (secret, course) in courses {
            if !course.isDoubtful, isClockWrong || ordered.contains(secret) || board.forgedAt >= course.since {
                courses[secret]?.isDoubtful = true
            }
            let isFailing = failing == secret
            if isFailing || course.failingSince != nil { courses[secret]?.note(isFailing: isFailing, at: fleet.boot) }
        }
        try checkHolding(board, fleet)
    }

    /// A rollout is held within five minutes, and those in which a signer reads the reports, where a canary fails.
    private func checkHolding(_ board: Noticeboard, _ fleet: Fleet) throws {
        guard let rollout = board.rollouts[FleetScenario.place(fleet.key)]?.value, rollout.state == .going,
            rollout.admitted < .max, let course = courses[rollout.secret.fingerprint], !course.isDoubtful,
            let failingSince = course.failingSince,
            fleet.boot - max(failingSince, board.rolloutTamperedAt + MachineWatch.timeout)
                > 2 * MachineWatch.fiveMinutes
        else { return }
        throw FleetViolation(.held, "the rollout of \(rollout.secret.fingerprint) goes on although a canary fails")
    }

    /// The secret that is rolled out, if a canary says in the store that it fails to deliver it, and a signer can know.
    private func secretThatFails(_ board: Noticeboard, _ fleet: Fleet) -> Fingerprint? {
        let place = FleetScenario.place(fleet.key)
        // While somebody has put something else there, signers leave the rollout as it is.
        guard let rollout = board.rollouts[place]?.value, case .secret(let lying)? = board.places[place]?.value,
            rollout.secret.fingerprint == lying.fingerprint, let course = courses[lying.fingerprint],
            fleet.signers.contains(where: { Self.isInTouch($0) && $0.current == lying })
        else { return nil }
        let secret = lying.fingerprint
        let isFailing = course.tried.prefix(settings.canaries).contains { name in
            board.reports[name].flatMap { Self.failing($0, in: fleet) } == secret
                && RolloutRank.of(name, secret) <= rollout.admitted
        }
        return isFailing ? secret : nil
    }

    /// The secret that a machine says it fails to deliver; nil where it says no such thing, or has said it so long ago that it
    /// may count as silent.
    private static func failing(_ report: Noticeboard.Report, in fleet: Fleet) -> Fingerprint? {
        guard let value = report.value, fleet.boot - report.at < 43_200_000, fleet.wall - value.at < 43_200,
            let holding = value.clients[FleetScenario.identity], !holding.delivered,
            holding.failure?.hasPrefix("store_") == false
        else { return nil }
        return holding.secret?.fingerprint
    }
}
