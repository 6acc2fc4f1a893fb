import Foundation
import TestSupport
import Testing

/// The units of the service that hands secrets on through etcd.
@Suite(.needs(.root, .release, .servers)) struct StoreServiceUnitsTests {
    /// What it is open to, by systemd's own reckoning, is what its comment says, and no more than 1.5.
    @Test func itStatesItsExposure() throws {
        try UnitExposure(of: "clientsecretd-store.service").check(atMost: 1.5)
    }

    /// On a real systemd, with real members of etcd.
    @Test(.waits, .needs(.root)) func itHandsOnForTheDaemon() throws { try Bed.hold("store.sh") }

    /// Three machines from nothing, one more and one less, another key, and the loss of the signer and of etcd.
    @Test(.waits, .needs(.root)) func whatTheGuideSaysOfAFleetWorks() throws {
        try Bed.hold("fleet.sh")
    }
}
