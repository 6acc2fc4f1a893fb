import Model
import Rotation

/// What APIs do, and what others do there.
extension Fate {
    /// A target's API fails or refuses, for minutes or, at times, for days.
    func breakTarget() throws {
        let output = pickTarget()
        startFailing(of: output)
        if chance(3), hasTargets { startFailing(of: pickTarget()) }
        if !chance(4) { askToRenew() }
        if chance(3) {
            try simulator.run(for: draw(60))
            simulator.die(downFor: UInt64(draw(60_000)))
        }
        try simulator.run(for: draw(pick([600, 3600, 3600, Scenario.day])))
    }

    func startFailing(of output: PushOutput) {
        outside.api.failureMode[output.target] = pick(Api.FailureMode.allCases)
        simulator.disturb()
    }

    /// Others write into a place or deploy its project, or its target is made to lead elsewhere.
    func changeTarget() throws {
        let output = pickTarget()
        if chance(5) {
            outside.meet(.placeMoved)
            var wanted = outside.configuration
            for name in wanted.clients.keys.sorted() where wanted.clients[name]?.targets == [output] {
                wanted.clients[name]?.targets = [
                    PushOutput(target: output.target, place: "\(output.target)-\(draw(3))")
                ]
            }
            return simulator.reload(wanted)
        }
        guard Api.shows(output.target) else {
            guard output.target == Scenario.deployed else { return }
            outside.meet(.deployedByOthers)
            if chance(2) {
                askToRenew()
                try simulator.run(for: draw(10))
            }
            outside.api.clock = simulator.boot
            return outside.api.deploy(Scenario.project, from: output, lasting: 20_000 + draw(180_000))
        }
        switch draw(4) {
        case 0, 1: change(output, to: .foreign, .placeChanged)
        case 2: change(output, to: nil, .placeEmptied)
        default:
            // Again whenever it was put in order.
            for _ in 0..<6 {
                change(output, to: .foreign, .placeContested)
                try simulator.run(for: 3700 + draw(1200))
            }
        }
        if chance(3) { askToRenew() }
        if chance(4) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    private func change(_ output: PushOutput, to other: SlotObservation?, _ fault: Fault) {
        outside.meet(fault)
        outside.api.clock = simulator.boot
        outside.api.damage(output, with: other)
        simulator.say("== \(output.target) changed by another program")
        simulator.disturb(.target(output.target))
    }
}
