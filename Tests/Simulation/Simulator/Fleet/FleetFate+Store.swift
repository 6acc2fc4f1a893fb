import AppleClientSecret
import Model
import Rotation

/// What happens to a fleet's store, and to the machines' ways to it.
extension FleetFate {
    /// Something of the store's does not work for minutes to a day, in which a secret is renewed.
    func breakStore(_ fault: FleetFault) throws {
        let isOfAll = chance(2)
        for machine in fleet.machines where isOfAll || chance(2) {
            machine.damageLink { link in
                switch fault {
                case .freeze: link.failureMode = .frozen
                case .ambiguousPuts: link.puts = .ambiguous
                case .outOfSpace: link.puts = .outOfSpace
                case .muteWatches: link.isMute = true
                default: if chance(2) { link.isForbidden = true } else { link.mayNotReport = true }
                }
            }
        }
        try fleet.run(for: draw(60))
        if chance(2) { renew() } else { for machine in fleet.signers { machine.ask(.renew(.init())) } }
        try fleet.run(for: draw(pick([60, 3600, Scenario.day])))
        if chance(2) { renew() }
    }

    /// The store is restored from a backup that was made before the last secrets were put there, or before somebody held a
    /// rollout.
    func restore() throws {
        guard let board = fleet.board else { return }
        let isHeld = fleet.kind == .rollouts && chance(2)
        if isHeld {
            renew()
            try fleet.run(for: 60 + draw(600))
        }
        let backup = board.backup
        if isHeld { pick(fleet.signers).ask(.rollout(FleetScenario.client, .hold)) }
        if chance(2) { renew() }
        try fleet.run(for: draw(pick([60, 3600, 5 * Scenario.day])))
        // Signers read the reports up to now, as they do every five minutes where polls are in time: what they never saw of a
        // machine is gone with the restored store, and it would seem silent for a day.
        fleet.stir()
        try fleet.run(for: 600)
        fleet.say("the store is restored")
        board.restore(backup, now: fleet.boot)
        // No watch tells of it: the revisions from which they begin are still to come.
        for machine in fleet.machines { machine.link.isSilent = true }
        if chance(2) { renew() }
        try fleet.run(for: draw(3600))
    }

    /// Somebody overwrites the signers' place again and again, for up to an hour.
    func contest() throws {
        guard let board = fleet.board else { return }
        for _ in 0..<60 {
            let value = fleet.history.isEmpty || chance(2) ? Offer.junk : .secret(pick(fleet.history))
            board.tamper(FleetScenario.place(fleet.key), with: value, now: fleet.boot)
            try fleet.run(for: 5 + draw(60))
        }
    }

    /// Somebody who may write there puts something into a place.
    func tamper(with value: Offer?) {
        guard let board = fleet.board else { return }
        fleet.say("put there: \(value.map { "\($0)".prefix(90).description } ?? "nothing")")
        board.tamper(FleetScenario.place(pick(fleet.accepted)), with: value, now: fleet.boot)
        if chance(3) { renew() }
    }

    /// Somebody who may write there reports as other machines, or as some that never were.
    func forgeReports() {
        guard let board = fleet.board else { return }
        for _ in 0...draw(3) {
            let machine = chance(2) ? pick(fleet.machines).name : "ghost\(draw(20))"
            let holding = MachineReport.Holding(
                secret: fleet.history.isEmpty ? nil : pick(fleet.history).name,
                since: fleet.wall + Seconds(draw(1000) - 500), delivered: chance(2), failure: chance(2) ? "junk" : nil)
            let ahead = pick([-400, -20, 0, 0, 20, 4000]) * Scenario.day
            let report = MachineReport(at: fleet.wall + Seconds(ahead), clients: [FleetScenario.identity: holding])
            board.impersonate(machine, chance(4) ? nil : report, fleet.random.next(), now: fleet.boot)
        }
    }
}
