import TestSupport
import Testing

/// The service on a real systemd. Each script groups what one boot can show.
@Suite(.needsRoot("boots a systemd")) struct ServiceTests {
    @Test func aFreshMachineNeedsOneKeyTenLinesAndOneCommand() throws { try Bed.hold("fresh.sh") }
}
