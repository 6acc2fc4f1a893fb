import TestSupport
import Testing

/// What is said of missing rights, and what root does by hand, beside a service that runs as its own user.
@Suite(.needsRoot("boots a systemd")) struct RightsBedTests {
    @Test func whatIsSaidOfMissingRightsIsAllItTakes() throws { try Bed.hold("rights.sh") }

    @Test func whatIsNoOutputAnyMoreIsNamedOnce() throws { try Bed.hold("orphans.sh") }
}
