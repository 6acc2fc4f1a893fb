import AppleClientSecret
import Model
import Rotation
import Simulation
import Testing

/// Periods in which one thing happens.
@Suite struct ScenarioTests {
    private func simulator() -> Simulator {
        Simulator(seed: 1, configuration: Scenario.configuration())
    }

    private func snapshot(_ simulator: Simulator) -> Snapshot {
        simulator.rotation.snapshot(at: simulator.now)
    }

    @Test func aQuietYearMintsSevenTimesForEachClient() throws {
        let simulator = simulator()
        try simulator.run(for: 365 * Scenario.day)
        // Renewed after 90 days less 30 days and the host's jitter: one at the start and one every 60 days.
        #expect(simulator.outside.mints == 5 * 7)
        #expect(simulator.outside.runs == 3 * 7)
        #expect(simulator.steps < 600)
    }

    /// A machine without a clock battery starts years ahead, mints by that clock, and is then corrected.
    @Test(arguments: [true, false])
    func aClockYearsAheadAtTheStartStopsNothing(isSynced: Bool) throws {
        let simulator = simulator()
        simulator.stepClock(by: 3650 * Scenario.day)
        simulator.isSynced = isSynced
        try simulator.run(for: 3600)
        let mints = simulator.outside.mints
        simulator.stepClock(by: -3650 * Scenario.day)
        // At once where the kernel calls the clock synchronised, else after ten minutes.
        try simulator.run(for: isSynced ? 5 : 605)
        #expect(simulator.outside.mints == mints + 5)
        #expect(snapshot(simulator).health == .ok)
        try simulator.run(for: 365 * Scenario.day)
        #expect(simulator.outside.mints == mints + 5 * 7)
    }

    /// The same machine at its next boots, with the secrets that it has kept: by its clock they are due, expired, or of
    /// another age of the world.
    @Test(arguments: [65, 100, 43 * 366])
    func aClockAheadAtALaterStartReplacesNothing(days: Int64) throws {
        let simulator = simulator()
        try simulator.run(for: 3600)
        let mints = simulator.outside.mints
        simulator.isSynced = false
        simulator.die(downFor: 1000)
        simulator.stepClock(by: days * Scenario.day)
        try simulator.run(for: 300)
        #expect(simulator.outside.mints == mints)
        #expect(snapshot(simulator).health == .degraded)
        simulator.stepClock(by: -days * Scenario.day)
        try simulator.run(for: 5)
        #expect(snapshot(simulator).health == .ok)
        try simulator.run(for: 30 * Scenario.day)
        #expect(simulator.outside.mints == mints)
    }

    /// All is well again for less than the 30 s after which it is reported: the daemon that is started then reports it, once.
    @Test func aRestartReportsWhatIsStillNews() throws {
        let simulator = simulator()
        try simulator.run(for: 3600)
        simulator.outside.broken.isTextBad = true
        simulator.noteChange(.configuration)
        try simulator.run(for: 60)
        #expect(simulator.outside.pages == 1)
        simulator.fix()
        try simulator.run(for: 10)
        #expect(snapshot(simulator).health == .ok)
        try simulator.restartInPeace()
        #expect(simulator.outside.pages == 2)
        try simulator.restartInPeace()
        #expect(simulator.outside.pages == 2)
    }
}
