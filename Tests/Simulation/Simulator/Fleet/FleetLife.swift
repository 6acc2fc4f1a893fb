import AppleClientSecret
import Model
import Rotation

/// One fleet's simulated life: its seed determines everything that happens in it.
package struct FleetLife: Sendable {
    package let seed: UInt64
    let mistake: FleetMistake?
    package let kind: FleetKind
    private let days: Int64

    /// Simulated years that pass in one life.
    package static let years: Int64 = 2

    /// How the secrets are handed on in the lives of eight seeds that follow each other.
    private static let kinds: [FleetKind] = [.rollouts, .files, .files, .files, .store, .files, .files, .files]

    /// - Parameter kind: nil: as the mistake demands, or the seed says.
    package init(seed: UInt64, mistake: FleetMistake? = nil, kind: FleetKind? = nil, days: Int64 = Self.years * 365) {
        self.seed = seed
        self.mistake = mistake
        self.kind = kind ?? mistake?.kind ?? Self.kinds[Int(seed % 8)]
        self.days = days
    }

    /// What happened in a life, in numbers.
    package struct Report: Sendable {
        package var met: [FleetFault: Int]
        package var mints: Int
        package var steps: Int
    }

    /// Runs the life, checking every promise at every step.
    ///
    /// - Parameter log: receives a line for each event.
    /// - Throws: ``Failure`` at the first promise that is broken.
    @discardableResult
    package func live(log: ((String) -> Void)? = nil) throws -> Report {
        let fleet = Fleet(seed: seed, kind: kind, mistake: mistake, log: log)
        do {
            try FleetFate(fleet: fleet).live(days: days)
        } catch let violation as FleetViolation {
            throw Failure(seed: seed, at: fleet.wall, promise: violation.promise, text: violation.text)
        }
        return Report(met: fleet.met, mints: fleet.mints, steps: fleet.steps)
    }

    /// The promise that is broken in a short life in which this fault strikes alone; nil where none is.
    package static func brokenPromise(in fault: FleetFault, seed: UInt64) throws -> FleetPromise? {
        let fleet = Fleet(seed: seed, kind: .rollouts, mistake: nil, log: nil)
        do {
            try FleetFate(fleet: fleet).live(with: fault, times: 3)
        } catch let violation as FleetViolation {
            return violation.promise
        }
        return nil
    }

    /// The promise that a planted mistake breaks in the first of `seeds` in which it breaks one that it is meant to
    /// break; nil when there is none.
    package static func notice(_ mistake: FleetMistake, seeds: ClosedRange<UInt64> = 1...60) -> FleetPromise? {
        for seed in seeds {
            do {
                try FleetLife(seed: seed, mistake: mistake).live()
            } catch let failure as Failure where mistake.breaks.contains(failure.promise) {
                return failure.promise
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
        package let promise: FleetPromise
        let text: String

        package var description: String {
            "\(promise): \(text), at \(at) in the fleet's life of seed \(seed); to see it again: make simulate FLEET_SEED=\(seed)"
        }
    }
}
