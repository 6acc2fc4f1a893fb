import AppleClientSecret
import Failures
import Model
import Rotation
import Simulation
import Testing

/// Changes that are acted upon at once.
@Suite struct PromptnessTests {
    enum Change: CaseIterable {
        case contentTorn
        case fileDeleted
        case modeChanged
        case keySwapped
        case clientIDChanged
        case teamChanged
        case keyIDChanged
        case keyOfClientChanged
        case outputMoved
        case suspended
        case clockSetAhead
        case clockSetBack
        case stateLost
    }

    private let simulator = Simulator(seed: 1, configuration: Scenario.configuration())

    private var areAllServed: Bool {
        simulator.outside.configuration.clients.keys.allSatisfy { simulator.isServed($0) }
    }

    @Test(arguments: Change.allCases) func everythingIsInOrderFiveSecondsLater(_ change: Change) throws {
        try simulator.run(for: 3600)
        try bringAbout(change)
        if change != .stateLost { #expect(!areAllServed) }
        try simulator.run(for: 5)
        #expect(areAllServed)
        let snapshot = simulator.rotation.snapshot(at: simulator.now)
        // A key id that stands for another key is reported for a day.
        #expect(change == .keySwapped ? snapshot.reason?.failure.code == .keyChanged : snapshot.health == .ok)
    }

    private func bringAbout(_ change: Change) throws {
        let path = try #require(AbsolutePath("/run/clientsecretd/out/alone.jwt"))
        let client = try #require(ClientName("alone"))
        let key = try #require(KeyName("apple"))
        var wanted = simulator.outside.configuration
        switch change {
        case .contentTorn: simulator.outside.overwrite(path, with: .foreign)
        case .fileDeleted: simulator.outside.delete(path)
        case .modeChanged: simulator.outside.files[path]?.isAsConfigured = false
        case .keySwapped:
            simulator.outside.swapKey(key, number: 2)
            simulator.noteChange(.key(key))
        case .clientIDChanged: wanted.clients[client]?.clientID = try #require(ClientID("com.example.other"))
        case .teamChanged: wanted.keys[key]?.team = try #require(TeamID("OPQ789RSTU"))
        case .keyIDChanged: wanted.keys[key]?.keyID = try #require(KeyID("VWX012YZAB"))
        case .keyOfClientChanged: wanted.clients[client]?.key = try #require(KeyName("other"))
        case .outputMoved: wanted.clients[client]?.outputs = [Scenario.raw("moved")]
        case .suspended: simulator.suspend(for: 200 * Scenario.day)
        case .clockSetAhead: simulator.stepClock(by: 200 * Scenario.day)
        case .clockSetBack: simulator.stepClock(by: -Scenario.day)
        case .stateLost:
            simulator.loseRecords()
            simulator.die()
        }
        if wanted != simulator.outside.configuration { simulator.reload(wanted) }
        simulator.noteChange(.file(path))
    }

    @Test func aLifetimeMadeShorterCountsAtOnce() throws {
        try simulator.run(for: 25 * Scenario.day)
        let mints = simulator.outside.mints
        try live(for: 30 * Scenario.day)
        try simulator.run(for: 5)
        // Due ten days before the thirty days end.
        #expect(simulator.outside.mints == mints + 1)
    }

    @Test func aLifetimeMadeLongerCountsFromTheNextRenewalOn() throws {
        try simulator.run(for: 5 * Scenario.day)
        let mints = simulator.outside.mints
        try live(for: 180 * Scenario.day)
        try simulator.run(for: 20 * Scenario.day)
        #expect(simulator.outside.mints == mints)
        // The old one is due sixty days before its end, the new one a hundred and twenty days later.
        try simulator.run(for: 25 * Scenario.day)
        #expect(simulator.outside.mints == mints + 1)
    }

    private func live(for seconds: Int64) throws {
        var configuration = simulator.outside.configuration
        configuration.live(for: seconds, try #require(ClientName("alone")))
        simulator.reload(configuration)
    }

    /// All outputs hold planted secrets that our key signed, dated ten years ahead, and the state directory is lost.
    @Test(arguments: [true, false]) func plantedSecretsFromTheFutureStopNothing(isSynced: Bool) throws {
        try simulator.run(for: 60)
        simulator.isSynced = isSynced
        simulator.die()
        simulator.loseRecords()
        let configuration = simulator.outside.configuration
        for (index, (path, spec)) in configuration.files.sorted(by: { $0.key < $1.key }).enumerated() {
            let name = try #require(spec.slots.values.min())
            let entry = try #require(configuration.clients[name])
            let key = try #require(configuration.keys[entry.key])
            let later = simulator.now.wall + Seconds(3650 * Scenario.day)
            let claims = Claims(
                issuer: key.team, keyID: key.keyID, subject: entry.clientID, now: later, lifetime: entry.lifetime)
            let planted = SecretInfo(
                fingerprint: Fingerprint(leadingBytes: UInt64(index)), claims: claims,
                signer: simulator.outside.prints[entry.key])
            simulator.outside.overwrite(path, with: .secret(planted))
        }
        let mints = simulator.outside.mints
        // At once where the kernel calls the clock synchronised, else after ten minutes.
        try simulator.run(for: isSynced ? 5 : 605)
        #expect(simulator.outside.mints == mints + 5)
        #expect(areAllServed)
        try simulator.run(for: 365 * Scenario.day)
        #expect(simulator.outside.mints == mints + 5 * 7)
    }
}
