import AppleClientSecret
import Rotation
import Simulation
import TestSupport
import Testing

@Suite struct SimulationTests {
    /// A few lives with every assertion of a debug build; `make simulate` lives through thousands of years.
    @Test(arguments: 0..<3)
    func secretsOutliveFaultsAndDeaths(run: Int) throws {
        try Life(seed: SeededGenerator().seed).live()
    }

    @Test func aQuietYearMintsFourTimesForEachClient() throws {
        let simulator = Simulator(seed: 1, configuration: Scenario.configuration())
        try simulator.run(for: 365 * Scenario.day)
        // 90 days less 30 days before expiry and the host's jitter: one at the start and one every 60 days.
        #expect(simulator.outside.mints == 3 * 7)
        #expect(simulator.turns < 400)
    }

    @Test func aRestartMintsNothing() throws {
        let simulator = Simulator(seed: 1, configuration: Scenario.configuration())
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

    @Test func aFileThatHangsHoldsUpNothingElse() throws {
        let simulator = Simulator(seed: 1, configuration: Scenario.configuration())
        let environment = Scenario.environment
        let alone = try #require(AbsolutePath("/run/clientsecretd/out/alone.jwt"))
        let web = try #require(AbsolutePath("/run/clientsecretd/out/web.jwt"))
        simulator.outside.hanging = [environment]
        try simulator.run(for: 31)
        for deaths in 0...1 {
            let before = [simulator.outside.files[alone], simulator.outside.files[web]]
            try simulator.run(for: 200 * Scenario.day)
            let snapshot = simulator.rotation.snapshot(at: simulator.now)
            #expect(snapshot.ready, "\(deaths)")
            #expect(snapshot.clients.map(\.standing) == [.ok, .degraded, .degraded], "\(deaths)")
            #expect(snapshot.clients[2].outputs.map(\.state) == [.ok, .notResponding], "\(deaths)")
            #expect(snapshot.clients[2].renewals > 2, "\(deaths)")
            #expect([simulator.outside.files[alone], simulator.outside.files[web]] != before, "\(deaths)")
            simulator.die()
        }
        simulator.mend()
        try simulator.run(for: 3 * 3600)
        #expect(simulator.rotation.snapshot(at: simulator.now).standing == .ok)
    }

    @Test func whatAnotherProgramKeepsInTheSameFileIsNeverLost() throws {
        let simulator = Simulator(seed: 1, configuration: Scenario.configuration())
        let environment = Scenario.environment
        simulator.outside.editAsStranger(environment)
        try simulator.run(for: 60)
        for _ in 0..<200 {
            let old = simulator.outside.files[environment]
            simulator.tell(.asked(.renew(.init()), nil))
            try simulator.run(for: Int64(simulator.random.next() % 3))
            simulator.outside.editAsStranger(environment, old: old)
            simulator.tell(.stirred(.file(environment)))
            simulator.disturb()
            try simulator.run(for: Int64(simulator.random.next() % 1000))
        }
        simulator.outside.delete(environment)
        simulator.tell(.stirred(.file(environment)))
        try simulator.run(for: 3600)
        #expect(simulator.outside.files[environment] == nil)
        simulator.die()
        try simulator.run(for: 3600)
        #expect(simulator.outside.files[environment] == nil)
        simulator.mend()
        simulator.tell(.stirred(.file(environment)))
        try simulator.run(for: 3 * 3600)
    }

    @Test(arguments: Sabotage.allCases)
    func plantedMistakesAreNoticed(sabotage: Sabotage) throws {
        for seed in UInt64(1)...20 {
            let simulator = Simulator(seed: seed, configuration: Scenario.configuration(), sabotage: sabotage)
            do {
                try Scenario.live(simulator, years: 2)
            } catch {
                return
            }
        }
        Issue.record("\(sabotage) was not noticed")
    }
}
