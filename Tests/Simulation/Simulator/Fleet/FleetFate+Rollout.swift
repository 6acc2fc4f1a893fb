import AppleClientSecret
import Model
import Rotation

/// What happens to rollouts.
extension FleetFate {
    private static let intervals: [Int64] = [900, 3600, 3 * 3600]

    /// Applications do not come back on some machines, or on all, while a secret is rolled out.
    func breakReloads() throws {
        let isOfAll = chance(2)
        for machine in fleet.followers where isOfAll || chance(2) {
            machine.outside.broken.actions[FleetScenario.action.id] = pick(Broken.Failing.allCases)
        }
        renew()
        try fleet.run(for: draw(pick(Self.intervals)))
        if chance(3) { try order(pick([.resume, .finish])) }
    }

    /// Machines are gone while they are to deliver.
    func silence() throws {
        renew()
        try fleet.run(for: draw(300))
        for machine in fleet.followers where chance(2) {
            if chance(2) { fleet.cut(machine) } else { machine.die(downFor: UInt64(draw(7_200_000))) }
        }
        try fleet.run(for: draw(pick(Self.intervals)))
    }

    /// Everything that the store held is gone while a secret is rolled out, and the signers are restarted.
    func loseStore() throws {
        renew()
        try fleet.run(for: 60 + draw(900))
        fleet.say("the store is lost")
        fleet.board?.empty(withReports: true, now: fleet.boot)
        for machine in fleet.signers { machine.die(downFor: UInt64(draw(60_000))) }
        try fleet.run(for: draw(pick(Self.intervals + [Scenario.day])))
    }

    /// Somebody holds a rollout, and another signer may not hear of it; then somebody may have it go on.
    func orderRollouts() throws {
        renew()
        try fleet.run(for: 60 + draw(600))
        let signer = pick(fleet.signers)
        for machine in fleet.signers where machine !== signer && chance(2) { machine.damageLink { $0.isMute = true } }
        signer.ask(.rollout(FleetScenario.client, .hold))
        try fleet.run(for: draw(pick(Self.intervals)))
        if chance(2) { try order(pick(RolloutOrder.allCases)) }
        if chance(2) { renew() }
    }

    private func order(_ order: RolloutOrder) throws {
        pick(fleet.signers).ask(.rollout(FleetScenario.client, order))
        try fleet.run(for: draw(900))
    }

    /// Has what is held go on, on every signer, as somebody would who was called.
    func resumeRollouts() {
        for machine in fleet.signers { machine.ask(.rollout(FleetScenario.client, .resume)) }
    }

    /// Somebody who may write there removes a rollout, or puts another one.
    func forgeRollouts() throws {
        guard let board = fleet.board else { return }
        for _ in 0...draw(3) {
            if chance(2) {
                renew()
                try fleet.run(for: draw(600))
            }
            let place = FleetScenario.place(pick(fleet.accepted))
            let entry = forgedRollout(at: place)
            fleet.say("rollout put there: \(entry.map { "\($0.map { "\($0)" } ?? "junk")" } ?? "nothing")")
            board.tamper(place, withRollout: entry, now: fleet.boot)
            try fleet.run(for: draw(900))
        }
    }

    private func forgedRollout(at place: StorePlace) -> Rollout?? {
        let lying = fleet.board?.rollouts[place]?.value
        guard var rollout = lying, !chance(4) else { return chance(2) ? .some(nil) : .none }
        switch draw(5) {
        case 0: rollout.state = .held
        case 1: rollout = Rollout(of: rollout.secret, admitted: .max)
        case 2: rollout.admitted = fleet.random.next()
        case 3: rollout.tolerated = Int(draw(5))
        default:
            let other = fleet.history.isEmpty ? rollout.secret : pick(fleet.history).name
            rollout = Rollout(of: other, admitted: chance(2) ? .max : fleet.random.next())
        }
        return rollout
    }
}
