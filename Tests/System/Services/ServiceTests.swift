import Foundation
import TestSupport
import Testing

/// The service on a real systemd. Each script groups what one boot can show.
@Suite(.needsRoot("boots a systemd")) struct ServiceTests {
    @Test func aFreshMachineNeedsOneKeyTenLinesAndOneCommand() throws { try Bed.hold("fresh.sh") }

    @Test func whatCheckSaysIsWhatTheServiceMeets() throws { try Bed.hold("check.sh") }

    @Test func whatIsOrderedAfterItFindsItsSecret() throws { try Bed.hold("order.sh") }

    @Test func nothingOfAHookOutlivesIt() throws { try Bed.hold("hooks.sh") }

    @Test func aReloadTellsItsVerdict() throws { try Bed.hold("reload.sh") }

    @Test func aWrongKeyUnderTheSameNameIsSaid() throws { try Bed.hold("keys.sh") }

    @Test func neitherAKillNorABadConfigurationIsTheEnd() throws { try Bed.hold("crash.sh") }

    @Test func aTypoAndARebootAreNoOutage() throws { try Bed.hold("adopted.sh") }

    @Test func itsSocketsLiveAndEndWithIt() throws { try Bed.hold("sockets.sh") }

    @Test func nobodyElseCanChangeWhatRootGivesAwayByPath() throws { try Bed.hold("layout.sh") }

    @Test func withoutSystemdItMakesItsOwnLayout() throws { try Bed.hold("bare.sh") }

    @Test func whatHelpsIsDoneAsItStands() throws { try Bed.hold("remedies.sh") }

    @Test func itNeverAsksForTheNetwork() throws { try Bed.hold("network.sh") }

    @Test func itsMetricsFileIsReadByWayOfALink() throws { try Bed.hold("metrics.sh") }

    @Test func aRebootMintsNothingAndAConsumerFindsItsSecret() throws {
        let kept = try TemporaryDirectory()
        for _ in 0..<2 { try Bed.hold("reboot.sh", sharing: [(kept.path, "/kept")]) }
    }
}

/// The guide does what it says.
@Suite(.needsRoot("boots a systemd")) struct GuideTests {
    private static let guide = repository + "/docs/systemd.md"

    @Test func allOfItWorksInOrderOnOneMachine() throws { try Bed.hold("guide.sh") }

    @Test func itWorksInAContainer() throws { try Bed.hold("container.sh") }

    /// What the service is open to with each drop-in that the guide shows, as the drop-in states.
    @Test func eachDropInStatesItsExposure() throws {
        let text = try String(contentsOfFile: Self.guide, encoding: .utf8)
        let dropIns = text.matches(of: #/clientsecretd\.service\.d/[a-z]+\.conf`:\n\n```ini\n((?:[^`]|`(?!``))*)```/#)
        #expect(dropIns.count >= 2)
        for dropIn in dropIns {
            let content = String(dropIn.output.1)
            let stated = try #require(content.firstMatch(of: /# exposure ([0-9]\.[0-9])/), "\(content)")
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory("clientsecretd.service.d"), withIntermediateDirectories: false)
            try FileManager.default.copyItem(
                atPath: repository + "/systemd/clientsecretd.service", toPath: directory("clientsecretd.service"))
            try directory.write(content, to: "clientsecretd.service.d/more.conf")
            #expect(try exposure(of: directory("clientsecretd.service")) == stated.output.1, "\(content)")
        }
    }
}
