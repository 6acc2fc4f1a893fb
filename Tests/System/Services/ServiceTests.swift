import Foundation
import TestSupport
import Testing

/// The service on a real systemd. Each script groups what one boot can show.
@Suite(.waits, .needs(.root, .release, .venv, .tools)) struct ServiceTests {
    @Test func aFreshMachineNeedsOneKeyTenLinesAndOneCommand() throws { try Bed.hold("fresh.sh") }

    @Test func anExpiredSecretIsReplacedInTwoCommandsAndEachBrokenLinkIsNamed() throws { try Bed.hold("doctor.sh") }

    @Test func initWritesAllItTakes() throws { try Bed.hold("init.sh") }

    @Test func checkFindsTheFaultsTheServiceMeets() throws { try Bed.hold("check.sh") }

    @Test func changesThatTakeARestartAreNamed() throws { try Bed.hold("starts.sh") }

    @Test func overridesOfAnOutputAreNamed() throws { try Bed.hold("hides.sh") }

    @Test func nothingOfAHookOutlivesIt() throws { try Bed.hold("hooks.sh") }

    @Test func aTypoAndARebootAreNoOutage() throws { try Bed.hold("adopted.sh") }

    @Test func itsSocketsLiveAndEndWithIt() throws { try Bed.hold("sockets.sh") }

    @Test func noOtherUserCanChangeAFileThatRootGivesAwayByPath() throws { try Bed.hold("layout.sh") }

    @Test func withoutSystemdItMakesItsOwnLayout() throws { try Bed.hold("bare.sh") }

    @Test func remediesAreDoneAsTheyStand() throws { try Bed.hold("remedies.sh") }

    @Test(arguments: ["outputs", "files"])
    func noPrintedCommandGivesAnythingAway(of part: String) throws { try Bed.hold("matrix.sh", part) }

    @Test func protectionsThatADropInTakesAwayAreNamed() throws { try Bed.hold("containers.sh") }

    // MARK: Units that use secrets

    @Test func unitsAreRestartedByTheServicesUserWhereAPolkitRuleAllowsIt() throws { try Bed.hold("bus.sh") }

    @Test func aUnitThatDoesNotStartAgainWasNotDeliveredTo() throws { try Bed.hold("restarts.sh") }

    @Test func unitsGetTheirSecretOrDoNotStart() throws { try Bed.hold("credentials.sh") }

    @Test func filesOfOtherUsersAreWrittenByTheirWriters() throws { try Bed.hold("writers.sh") }

    // MARK: Messages to systemd and to people

    @Test func reloadsHangsAndEndsAreReported() throws { try Bed.hold("manager.sh") }

    @Test func logEventsHaveFieldsAndExplanations() throws { try Bed.hold("journal.sh") }

    @Test func remediesForMissingRightsAreAllItTakes() throws { try Bed.hold("rights.sh") }

    // MARK: The services that open connections

    @Test func theServiceThatAsksAppleSeesNoKeyAndNoOutput() throws { try Bed.hold("verify.sh") }

    @Test func aServicePushesForTheDaemon() throws { try Bed.hold("push.sh") }

    /// With three members of etcd.
    @Test(.needs(.servers)) func aServiceHandsOnForTheDaemon() throws { try Bed.hold("store.sh") }

    // MARK: What the guides say, in their order

    @Test func theGuideForSystemdWorks() throws { try Bed.hold("guide.sh") }

    @Test func theGuideForOperatorsWorks() throws { try Bed.hold("operations.sh") }

    /// Three machines from nothing, one more and one less, another key, and the loss of the signer and of etcd.
    @Test(.needs(.servers)) func theGuideForFleetsWorks() throws { try Bed.hold("fleet.sh") }
}
