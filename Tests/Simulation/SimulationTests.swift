import AppleClientSecret
import Rotation
import TestSupport
import Testing

@Suite struct SimulationTests {
    /// `CLIENTSECRETD_SEED=N swift test --filter SimulationTests` lives through one seed again.
    @Test(arguments: 0..<20)
    func secretsOutliveFaultsAndDeaths(run: Int) throws {
        let seed = SeededGenerator().seed
        let simulator = Simulator(seed: seed, configuration: try Scenario.configuration())
        do {
            try Scenario.live(simulator, years: 5)
        } catch {
            Issue.record("seed \(seed), at \(simulator.now.wall): \(error)")
        }
        #expect(simulator.outside.mints > 15, "seed \(seed)")
    }

    @Test func aQuietYearMintsFourTimesForEachClient() throws {
        let simulator = Simulator(seed: 1, configuration: try Scenario.configuration())
        try simulator.run(for: 365 * Scenario.day)
        // 90 days less 30 days before expiry and the host's jitter: one at the start and one every 60 days.
        #expect(simulator.outside.mints == 3 * 7)
        #expect(simulator.turns < 400)
    }

    @Test func aRestartMintsNothing() throws {
        let simulator = Simulator(seed: 1, configuration: try Scenario.configuration())
        try simulator.run(for: 60)
        let mints = simulator.outside.mints
        let runs = simulator.outside.runs
        for _ in 0..<50 {
            simulator.die()
            try simulator.run(for: 60)
        }
        #expect(simulator.outside.mints == mints)
        #expect(simulator.outside.runs == runs)
    }

    @Test(arguments: Sabotage.allCases)
    func plantedMistakesAreNoticed(sabotage: Sabotage) throws {
        for seed in UInt64(1)...20 {
            let simulator = Simulator(seed: seed, configuration: try Scenario.configuration(), sabotage: sabotage)
            do {
                try Scenario.live(simulator, years: 2)
            } catch {
                return
            }
        }
        Issue.record("\(sabotage) was not noticed")
    }
}
