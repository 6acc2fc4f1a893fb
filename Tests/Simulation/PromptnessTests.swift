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
}
