import TestSupport
import Testing

/// What a real systemd is told of the daemon, and does about it.
@Suite(.needsRoot("boots a systemd")) struct ServiceManagerTests {
    @Test func reloadsHangsAndEndsAreTold() throws { try Bed.hold("manager.sh") }
}
