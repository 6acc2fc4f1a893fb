import AppleClientSecret
import Model
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

    /// Whether some client has a target now.
    var hasTargets: Bool { outside.configuration.clients.values.contains { !$0.targets.isEmpty } }

    mutating func live(days: Int64) throws {
        outside.editAsStranger(Scenario.environment)
        simulator.noteChange(.file(Scenario.environment))
        let end = simulator.now.boot.milliseconds + days * Scenario.day * 1000
        while simulator.now.boot.milliseconds < end {
            try strike()
            try simulator.run(for: chance(4) ? draw(7200) : draw(900))
            if chance(2) { try strike() }
            simulator.fix()
            try simulator.run(for: 7200 + draw(pick([Scenario.day / 24, 20 * Scenario.day, 200 * Scenario.day])))
            try simulator.restartInPeace()
            correctClock()
        }
    }

    private mutating func strike() throws {
        let strike = pick(hasTargets ? Self.deckWithTargets : Self.deck)
        try strike.bring(&self)
    }

    /// What happens in a strike of fate. Tests/Simulation/README.md has a row for each.
    private struct Strike: Sendable {
        /// How often it strikes, compared with the others.
        let weight: Int
        var needsTargets = false
        let bring: @Sendable (inout Fate) throws -> Void
    }

    private static let strikes = [
        Strike(weight: 3) { try $0.kill() },
        Strike(weight: 2) { $0.breakDisk() },
        Strike(weight: 1) { $0.breakState() },
        Strike(weight: 2) { $0.breakKey() },
        Strike(weight: 2) { $0.breakAction() },
        Strike(weight: 2) { try $0.breakApple() },
        Strike(weight: 2) { try $0.setClock() },
        Strike(weight: 1) { try $0.suspend() },
        Strike(weight: 3) { $0.reconfigure() },
        Strike(weight: 1) { $0.breakText() },
        Strike(weight: 1) { try $0.liveFast() },
        Strike(weight: 1) { try $0.contest() },
        Strike(weight: 9) { try $0.changeOutput() },
        Strike(weight: 6, needsTargets: true) { try $0.breakTarget() },
        Strike(weight: 3, needsTargets: true) { try $0.changeTarget() },
    ]

    /// Every kind of strike as often as its weight says.
    private static let deckWithTargets = strikes.flatMap { Array(repeating: $0, count: $0.weight) }
    private static let deck = deckWithTargets.filter { !$0.needsTargets }
}
