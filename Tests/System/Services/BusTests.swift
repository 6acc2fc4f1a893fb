import TestSupport
import Testing

/// Units told of a new secret, on a real systemd with a bus and polkit.
@Suite(.needsRoot("boots a systemd")) struct BusTests {
    @Test func unitsAreToldByTheServicesUserWhereARuleOfPolkitsLetsIt() throws { try Bed.hold("bus.sh") }

    @Test func whatDoesNotComeUpAgainWasNotTold() throws { try Bed.hold("restarts.sh") }
}
