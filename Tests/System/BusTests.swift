import TestSupport
import Testing

/// Units told of a new secret, on a real systemd with a bus and polkit.
@Suite(.enabled(if: Bed.isPossible, "only root can boot a systemd"))
struct BusTests {
    @Test func unitsAreToldByTheServicesUserWhereARuleOfPolkitsLetsIt() throws { try Bed.hold("bus.sh") }
}
