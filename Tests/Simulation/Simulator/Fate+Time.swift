import AppleClientSecret
import Model
import Rotation

/// What happens to the clocks.
extension Fate {
    func setClock() throws {
        let size = pick(Fault.Size.allCases)
        let seconds = size.draw(&simulator.random)
        if chance(3) {
            outside.meet(.clockUnsynchronised)
            simulator.isSynced = false
        }
        if chance(simulator.isSynced ? 4 : 2) {
            // The machine starts with the wrong clock.
            if size == .years { outside.meet(.clockWrongAtStart) }
            simulator.die(downFor: UInt64(draw(60_000)), byPowerCut: true)
        }
        if chance(2) {
            outside.meet(.clockAhead, size)
            simulator.stepClock(by: seconds)
        } else {
            outside.meet(.clockBack, size)
            simulator.stepClock(by: -seconds)
        }
        if simulator.now.wall.secondsSinceEpoch < Simulator.builtAt { outside.meet(.clockBeforeBuild) }
        if chance(2) {
            try simulator.run(for: 10 + draw(3600))
            simulator.stepClock(by: -simulator.clocks.error)
        }
    }

    func suspend() throws {
        let untilWake = simulator.wake.wall.map { $0.secondsSinceEpoch - simulator.now.wall.secondsSinceEpoch } ?? 0
        if untilWake > 600, chance(2) {
            // To shortly before the next wake: a timer that does not count the suspend would be late.
            outside.meet(.suspendedUntilWake)
            simulator.suspend(for: untilWake - draw(600))
        } else {
            let size = pick(Fault.Size.ofSuspends)
            outside.meet(.suspended, size)
            if chance(2) {
                askToRenew()
                try simulator.run(for: 0)
            }
            simulator.suspend(for: size.draw(&simulator.random))
        }
        // Only the daemon's own timers show that time has passed.
        try simulator.run(for: 2 * 3600)
    }

    func correctClock() {
        simulator.isSynced = true
        if simulator.clocks.error != 0, chance(2) { simulator.stepClock(by: -simulator.clocks.error) }
    }
}
