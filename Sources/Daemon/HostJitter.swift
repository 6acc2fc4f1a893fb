import AppleClientSecret
import Digest
import Glibc
import Linux
import Model
import SystemPackage

/// Where in the renewal window this machine renews, so that a fleet does not renew at one moment.
enum HostJitter {
    /// A number from 0 up to 1 that stays the same for this machine: from its machine id (machine-id(5)), else from
    /// its host name, as in a container without one.
    static var value: Double { value(machineID: machineID, hostName: HostName.current) }

    /// The same for a machine of this id, or of this name where it has none.
    static func value(machineID: [UInt8]?, hostName: @autoclosure () -> String) -> Double {
        let digest = SHA256.digest(Array("clientsecretd renewal ".utf8) + (machineID ?? Array(hostName().utf8)))
        return Double(digest.prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / Double(UInt64(1) << 32)
    }

    private static var machineID: [UInt8]? {
        guard let file = try? FileDescriptor.open(FilePath("/etc/machine-id"), .readOnly, options: .closeOnExec) else {
            return nil
        }
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe (try? file.read(into: $0)) ?? 0 }
        return count < 32 ? nil : Array(bytes.prefix(count))
    }
}
