import AppleClientSecret
import Model
import Rotation

/// Records what one machine does to the store, to check what is promised of it.
struct StoreWatch {
    /// The secret that was put last since the machine's start, and when; in the last hour.
    private var puts: (secret: Fingerprint, at: [Int64])?

    /// Checks what was put since this was last called.
    mutating func see(_ machine: Machine) throws {
        defer { machine.puts = [] }
        for put in machine.puts {
            try checkOrder(put, machine)
            try checkPace(put, machine)
        }
    }

    /// A signer never puts an earlier secret over a later one that it could use.
    private func checkOrder(_ put: Machine.Put, _ machine: Machine) throws {
        guard !put.isConflict, machine.isGood, case .secret(let found)? = put.found?.value, !machine.isWrong(found),
            machine.rank(of: found) == machine.rank(of: put.secret),
            machine.now.wall < machine.entry.due(of: found, jitter: machine.renewalJitter),
            found.isLater(than: put.secret)
        else { return }
        throw FleetViolation(
            .forward, "\(machine.name) puts \(put.secret.fingerprint) over \(found.fingerprint), which is later")
    }

    /// After three puts within an hour, one secret is put every ten minutes at most, but for a request.
    private mutating func checkPace(_ put: Machine.Put, _ machine: Machine) throws {
        guard put.isAnswered else { return }
        var times = puts.flatMap { $0.secret == put.secret.fingerprint ? $0.at : nil } ?? []
        times.removeAll { $0 <= machine.boot - 3_590_000 }
        let isTooEarly =
            times.count >= 3
            && times.last.map { $0 > machine.disturbedAt && machine.boot - $0 < 590_000 } == true
        times.append(machine.boot)
        puts = (put.secret.fingerprint, times)
        if isTooEarly {
            throw FleetViolation(.calm, "\(machine.name) puts \(put.secret.fingerprint) again and again")
        }
    }
}

/// Checks that the store lists the machines that there are, and that signers say so.
struct RollCall {
    let board: Noticeboard
    let boot: Int64
    let machines: [Machine]
    /// How long a rollout waits for a machine that gives no sign of life, in milliseconds; nil without rollouts.
    let pause: Int64?

    /// In which each machine puts its report, and signers find that it was not put: what was last put is read within
    /// twelve hours, is silent 26 hours later, and found to be so within another twelve; in milliseconds.
    static let day: Int64 = 187_200_000
    /// Two weeks, and two days in which they are found to be over.
    private static let weeks: Int64 = 1_382_400_000
    /// In which a signer that was just started finds that nothing changes: ``day``, and a day until it tries again.
    private static let days: Int64 = 273_600_000

    func check() throws {
        for signer in machines where signer.isSigner && signer.isAlive && boot - signer.disturbedAt > 7_200_000 {
            try check(signer)
        }
    }

    private func check(_ signer: Machine) throws {
        guard let counts = signer.rotation.snapshot(at: signer.now).fleet[FleetScenario.client] else {
            throw FleetViolation(.honest, "\(signer.name) does not know who reports")
        }
        var sure: [FleetCounts.State: Int] = [:]
        /// How many may be in either of two or more states.
        var unsure: [FleetCounts.State: Int] = [:]
        for (name, report) in board.reports where report.value?.clients[FleetScenario.identity] != nil {
            let machine = machines.first { $0.name == name }
            if let machine, boot - machine.disturbedAt > 7_200_000, boot - machine.link.changedAt > 7_200_000,
                boot - (board.tamperedAt[name] ?? Noticeboard.longAgo) > Self.day, boot - machine.madeAt > 7_200_000
            {
                if machine.isReportedAsFailing {
                    sure[.failing, default: 0] += 1
                } else if machine.published == signer.published {
                    sure[.current, default: 0] += 1
                } else if let pause, boot - report.at > pause {
                    // A rollout waits no longer for a machine that keeps a later secret than the signer's.
                    for state in [FleetCounts.State.behind, .silent] { unsure[state, default: 0] += 1 }
                } else {
                    sure[.behind, default: 0] += 1
                }
            } else if machine == nil,
                boot - max(report.at, signer.bornAt, board.tamperedAt[name] ?? Noticeboard.longAgo) > Self.day
            {
                sure[.silent, default: 0] += 1
                try checkForgotten(name, report, by: signer)
            } else {
                for state in FleetCounts.State.allCases { unsure[state, default: 0] += 1 }
            }
        }
        for state in FleetCounts.State.allCases {
            let range = sure[state, default: 0]...sure[state, default: 0] + unsure[state, default: 0]
            if range.contains(counts[state]) { continue }
            throw FleetViolation(
                .honest,
                "\(signer.name) counts \(counts[state]) machines that are \(state), not \(range.lowerBound) to"
                    + " \(range.upperBound)")
        }
        try checkReported()
    }

    /// Whoever is gone is not listed for ever, also where the signer has not run for all the time.
    private func checkForgotten(_ name: String, _ report: Noticeboard.Report, by signer: Machine) throws {
        let unchanged = boot - max(report.at, board.tamperedAt[name] ?? 0)
        let seen = boot - max(signer.harmedAt, signer.bornAt, signer.link.changedAt)
        let isOldByItsClock = report.value.map { signer.now.wall - $0.at > Seconds(Self.weeks / 1000) } ?? false
        if unchanged > Self.weeks, seen > (isOldByItsClock ? Self.days : Self.weeks) {
            throw FleetViolation(.honest, "\(name) is gone, and its report is still there")
        }
    }

    /// Every machine reports.
    private func checkReported() throws {
        for machine in machines
        where boot - max(machine.disturbedAt, machine.madeAt, machine.link.changedAt) > 7_200_000
            && boot - (board.tamperedAt[machine.name] ?? Noticeboard.longAgo) > Self.day
            && board.reports[machine.name]?.value?.clients[FleetScenario.identity] == nil
        {
            throw FleetViolation(.honest, "\(machine.name) does not report")
        }
    }
}
