import Simulation
import TestSupport
import Testing

/// The simulator itself. `make simulate` simulates thousands of years and plants every mistake; here a few months pass,
/// with every assertion of a debug build.
@Suite struct SimulationTests {
    private static let seed = SeededGenerator().seed

    @Test func secretsOutliveFaultsAndDeaths() throws {
        try Life(seed: Self.seed, days: 90).live()
    }

    /// The seed printed with a failure reproduces the same life, whatever the hash seed of the process.
    @Test func aSeedDeterminesALife() throws {
        let program = try #require(Self.program)
        let lives = try (0..<2).map { _ in
            try run(["sh", "-c", #""$0" --seed 5 | head -n 1000"#, program]).output
        }
        #expect(lives[0] == lives[1])
        #expect(lives[0].count > 30_000)
    }

    /// The program next to this test bundle.
    private static var program: String? {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") || $0.contains(".xctest/") }
        let folder = bundle.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        return folder.map { $0 + "/simulate" }
    }

    @Test(arguments: [(FleetKind.files, 40), (.store, 10), (.rollouts, 10)] as [(FleetKind, Int64)])
    func fleetsOutliveFaultsAndDeaths(kind: FleetKind, days: Int64) throws {
        try FleetLife(seed: Self.seed, kind: kind, days: days).live()
    }

    /// A hold that was ordered after a backup was made outlives it.
    @Test(arguments: [FleetFault.lostStore, .restored])
    func machinesKeepToTheRolloutWhenTheStoreIsLostOrRestored(fault: FleetFault) throws {
        try FleetLife(seed: Self.seed, kind: .rollouts).live(with: fault)
    }

    @Test func aMistakePlantedInAFleetIsNoticedAndSaysHowToSeeItAgain() throws {
        let failure = try #require(throws: LifeFailure<FleetPromise>.self) {
            for seed in UInt64(1)...20 { try FleetLife(seed: seed, mistake: .believesForgedSecrets).live() }
        }
        #expect(failure.promise == .genuine)
        #expect("\(failure)".contains(#/make simulate FLEET_SEED=\d+$/#))
    }

    @Test func aPlantedMistakeIsNoticedAndSaysHowToSeeItAgain() throws {
        let failure = try #require(throws: LifeFailure<Invariant>.self) {
            for seed in UInt64(1)...20 { try Life(seed: seed, mistake: .believesWrites).live() }
        }
        #expect("\(failure)".contains(#/make simulate SEED=\d+$/#))
    }
}
