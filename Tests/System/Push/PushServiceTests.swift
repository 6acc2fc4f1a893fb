import Foundation
import TestSupport
import Testing

/// The push service's units.
@Suite(.needs(.root, .release, .venv)) struct PushServiceTests {
    /// What it is open to, by systemd's own reckoning, is what its comment says, and no more than 1.5.
    @Test func itStatesItsExposure() throws {
        try UnitExposure(of: "clientsecretd-push@.service").check(atMost: 1.5)
    }

    /// On a real systemd.
    @Test(.needs(.root)) func itPushesForTheDaemon() throws { try Bed.hold("push.sh") }
}
