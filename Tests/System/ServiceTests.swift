import TestSupport
import Testing

/// The service on a real systemd. Each script groups what one boot can show.
@Suite(.enabled(if: Bed.isPossible, "only root can boot a systemd"))
struct ServiceTests {
    @Test func aFreshMachineNeedsOneKeyTenLinesAndOneCommand() throws { try Bed.hold("fresh.sh") }
}
