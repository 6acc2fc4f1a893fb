import AppleClientSecret
import Model
import Rotation

/// One daemon's simulated life.
package struct Life: SimulatedLife {
    private let seed: UInt64
    private let mistake: Sabotage?
    private let days: Int64

    /// The simulated years of one life.
    private static let span: Int64 = 4
    package static let years = Int(span) * Scenario.configuration().clients.count
    package static let faults = Fault.allWords

    package init(seed: UInt64, mistake: Sabotage? = nil) {
        self.init(seed: seed, mistake: mistake, days: Self.span * 365)
    }

    package init(seed: UInt64, mistake: Sabotage? = nil, days: Int64) {
        self.seed = seed
        self.mistake = mistake
        self.days = days
    }

    /// Whether clients have targets in the life of a seed: in every third one.
    static func pushes(_ seed: UInt64) -> Bool { seed % 3 == 1 }

    @discardableResult
    package func live(log: ((String) -> Void)? = nil) throws -> LifeReport {
        let simulator = Simulator(
            seed: seed,
            configuration: Scenario.configuration(
                verifiesAll: seed % 3 == 0, pushes: Self.pushes(seed), hasKinds: seed % 4 == 2),
            sabotage: mistake)
        simulator.log = log
        do {
            var fate = Fate(simulator)
            try fate.live(days: days)
        } catch let violation as Violation {
            throw LifeFailure(violation, at: simulator.now.wall, seed: seed, replay: "SEED")
        }
        return LifeReport(met: simulator.outside.met, mints: simulator.outside.mints, steps: simulator.steps)
    }
}
