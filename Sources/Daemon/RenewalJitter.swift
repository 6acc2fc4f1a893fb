import AppleClientSecret
import Digest
import Linux
import Model

/// The moment in the renewal window at which this machine renews, so that a fleet does not renew at one moment.
enum RenewalJitter {
    /// A number from 0 up to 1 that stays the same for this machine. It comes from its machine id (machine-id(5)), else from
    /// its host name, as in a container without one.
    static var value: Double { value(machineID: machineID, hostName: HostName.current) }

    /// The same for a machine of this id, or of this name where it has none.
    static func value(machineID: [UInt8]?, hostName: @autoclosure () -> String) -> Double {
        let digest = SHA256.digest(Array("clientsecretd renewal ".utf8) + (machineID ?? Array(hostName().utf8)))
        return Double(digest.prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / Double(UInt64(1) << 32)
    }

    private static var machineID: [UInt8]? {
        ForeignFile.bytes(of: "/etc/machine-id", count: 64).flatMap { $0.count < 32 ? nil : $0 }
    }
}
