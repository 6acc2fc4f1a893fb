import TestSupport
import Testing

/// Units of a real systemd load their secrets from the daemon.
@Suite struct CredentialBedTests {
    @Test(.needsRoot("boots a systemd"))
    func unitsGetTheirSecretOrDoNotStart() throws {
        try Bed.hold("credentials.sh")
    }
}
