import AppleClientSecret
import Rotation

/// The events of a daemon's simulated years: faults, their fixes, and long quiet periods in between.
struct Fate {
    let simulator: Simulator
    /// Clients that were removed from the configuration.
    var removed: [ClientName: ClientConfiguration] = [:]

    init(_ simulator: Simulator) {
        self.simulator = simulator
    }

    var outside: Outside { simulator.outside }

    mutating func live(years: Int64) throws {
        outside.editAsStranger(Scenario.environment)
        simulator.noteChange(.file(Scenario.environment))
        let end = simulator.now.boot.milliseconds + years * 365 * Scenario.day * 1000
        while simulator.now.boot.milliseconds < end {
            try strike()
            try simulator.run(for: chance(4) ? draw(7200) : draw(900))
            if chance(2) { try strike() }
            simulator.fix()
            try simulator.run(for: 7200 + draw(pick([Scenario.day / 24, 20 * Scenario.day, 200 * Scenario.day])))
            try restartInPeace()
            correctClock()
        }
    }

    /// A restart while all is well mints nothing and notifies nobody.
    private func restartInPeace() throws {
        // Not when a renewal is due just then, nor when it is unknown for which secrets actions were run, nor while an
        // output lacks its secret: a restart may settle which one it is.
        guard simulator.isAlive else { return }
        if let client = outside.forgottenClient(simulator.rotation) {
            throw Violation(.memory, "the state directory does not hold the secret of \(client)")
        }
        guard outside.remembersAll, let due = simulator.wake.wall, due > simulator.now.wall + 3600,
            simulator.rotation.snapshot(at: simulator.now).clients.flatMap(\.outputs).allSatisfy({ $0.state == .ok })
        else { return }
        let before = (outside.mints, outside.runs)
        let pages = outside.pages
        simulator.die()
        try simulator.run(for: 600)
        guard (outside.mints, outside.runs) == before else {
            throw Violation(.pace, "a restart has minted or run an action")
        }
        guard outside.pages == pages else {
            throw Violation(.stateChangeActions, "a restart has told of what is no news")
        }
    }

    private mutating func strike() throws {
        switch draw(28) {
        case 0, 1, 2: try kill()
        case 3, 4: breakDisk()
        case 5: breakState()
        case 6, 7: breakKey()
        case 8, 9: breakAction()
        case 10, 11: try setClock()
        case 12: try sleep()
        case 13, 14, 15: reconfigure()
        case 16: breakText()
        case 17: try liveFast()
        case 18: try contest()
        default: try meddle()
        }
    }
}
