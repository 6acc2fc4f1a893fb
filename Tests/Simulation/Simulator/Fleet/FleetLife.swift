import AppleClientSecret
import Model
import Rotation

/// One fleet's simulated life.
package struct FleetLife: SimulatedLife {
    private let seed: UInt64
    private let mistake: FleetMistake?
    private let kind: FleetKind
    private let days: Int64

    package static let years = 2
    package static let faults = FleetFault.allCases.map(\.rawValue)

    /// How the secrets are handed on in the lives of eight seeds that follow each other.
    private static let kinds: [FleetKind] = [.rollouts, .files, .files, .files, .store, .files, .files, .files]

    package init(seed: UInt64, mistake: FleetMistake? = nil) {
        self.mistake = mistake
        self.seed = seed
        kind = mistake?.kind ?? Self.kinds[Int(seed % 8)]
        days = Int64(Self.years) * 365
    }

    package init(seed: UInt64, kind: FleetKind, days: Int64 = Int64(Self.years) * 365) {
        mistake = nil
        self.seed = seed
        self.kind = kind
        self.days = days
    }

    @discardableResult
    package func live(log: ((String) -> Void)? = nil) throws -> LifeReport {
        try live(log: log) { try $0.live(days: days) }
    }

    /// A short life in which this fault strikes alone.
    package func live(with fault: FleetFault) throws {
        try live(log: nil) { try $0.live(with: fault) }
    }

    @discardableResult
    private func live(log: ((String) -> Void)?, _ events: (FleetFate) throws -> Void) throws -> LifeReport {
        let fleet = Fleet(seed: seed, kind: kind, mistake: mistake, log: log)
        do {
            try events(FleetFate(fleet: fleet))
        } catch let violation as FleetViolation {
            throw LifeFailure(violation, at: fleet.wall, seed: seed, replay: "FLEET_SEED")
        }
        return LifeReport(met: fleet.met, mints: fleet.mints, steps: fleet.steps)
    }
}
