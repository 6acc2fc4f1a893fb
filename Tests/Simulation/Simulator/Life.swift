import AppleClientSecret
import Model
import Rotation

/// One daemon's simulated life: its seed determines everything that happens in it.
package struct Life: Sendable {
    package let seed: UInt64
    let sabotage: Sabotage?
    private let years: Int64

    /// Simulated years that pass in one life.
    package static let years: Int64 = 4
    /// The simulated years of one life, times its clients.
    package static let secretYears = Int(years) * Scenario.configuration().clients.count

    package init(seed: UInt64, sabotage: Sabotage? = nil, years: Int64 = Self.years) {
        self.seed = seed
        self.sabotage = sabotage
        self.years = years
    }

    /// Whether clients have targets in the life of a seed: in every third one.
    static func pushes(_ seed: UInt64) -> Bool { seed % 3 == 1 }

    /// What happened in a life, in numbers.
    package struct Report: Sendable {
        package var met: [Fault: Int]
        package var mints: Int
        package var steps: Int
        package var deaths: Int
    }

    /// Runs the life, checking every promise at every step.
    ///
    /// - Parameter log: receives a line for each event.
    /// - Throws: ``Failure`` at the first promise that is broken.
    @discardableResult
    package func live(log: ((String) -> Void)? = nil) throws -> Report {
        let simulator = Simulator(
            seed: seed,
            configuration: Scenario.configuration(
                verifiesAll: seed % 3 == 0, pushes: Self.pushes(seed), hasKinds: seed % 4 == 2),
            sabotage: sabotage)
        simulator.log = log
        do {
            var fate = Fate(simulator)
            try fate.live(years: years)
        } catch let violation as Violation {
            throw Failure(seed: seed, at: simulator.now.wall, violation: violation)
        }
        return Report(
            met: simulator.outside.met, mints: simulator.outside.mints, steps: simulator.steps,
            deaths: simulator.deaths)
    }

    /// The promise that a planted mistake breaks in the first of `seeds` in which it breaks one that it is meant to
    /// break; nil when there is none.
    package static func notice(_ sabotage: Sabotage, seeds: ClosedRange<UInt64> = 1...60) -> Invariant? {
        for seed in seeds where !sabotage.needsTargets || pushes(seed) {
            do {
                try Life(seed: seed, sabotage: sabotage).live()
            } catch let failure as Failure where sabotage.breaks.contains(failure.violation.invariant) {
                return failure.violation.invariant
            } catch {
                continue
            }
        }
        return nil
    }

    /// A life in which a promise was broken.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        let seed: UInt64
        let at: WallTime
        package let violation: Violation

        package var description: String {
            "\(violation), at \(at) in the life of seed \(seed); to see it again: make simulate SEED=\(seed)"
        }
    }
}
