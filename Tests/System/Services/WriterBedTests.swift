import TestSupport
import Testing

/// Writers that a real systemd starts for a daemon that runs as its own user, behind the sandbox of its unit.
@Suite struct WriterBedTests {
    @Test(.needsRoot("boots a systemd"))
    func filesOfOtherUsersAreWrittenByTheirWriters() throws {
        try Bed.hold("writers.sh")
    }
}
