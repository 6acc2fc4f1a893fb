import AppleClientSecret
import Rotation
import TestSupport

/// One daemon's simulated life: its seed determines everything that happens in it.
package struct Life: Sendable {
    package let seed: UInt64
    let sabotage: Sabotage?

    /// Simulated years that pass in one life.
    package static let years: Int64 = 4
    /// What the lives of all clients come to.
    package static let secretYears = Int(years) * Scenario.configuration().clients.count

    package init(seed: UInt64, sabotage: Sabotage? = nil) {
        self.seed = seed
        self.sabotage = sabotage
    }

    /// Lives through it, checking every promise at every step.
    ///
    /// - Parameter log: told what happens, line by line.
    /// - Throws: ``Failure`` at the first promise that is broken.
    package func live(log: ((String) -> Void)? = nil) throws {
        let simulator = Simulator(seed: seed, configuration: Scenario.configuration(), sabotage: sabotage)
        simulator.log = log
        do {
            try Scenario.live(simulator, years: Self.years)
        } catch let violation as Violation {
            throw Failure(seed: seed, at: simulator.now.wall, violation: violation)
        }
    }

    /// A life in which a promise was broken.
    package struct Failure: Error, CustomStringConvertible {
        let seed: UInt64
        let at: WallTime
        package let violation: Violation

        package var description: String {
            "\(violation), at \(at) in the life of seed \(seed); to see it again: make simulate SEED=\(seed)"
        }
    }
}
