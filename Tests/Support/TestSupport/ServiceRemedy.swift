import Foundation

/// What is said to help where one of the services that have a network does not listen: on this machine, with systemd or
/// without.
///
/// - Parameters:
///   - unit: the socket's, without `.socket`.
///   - listening: what listens without systemd, after `clientsecretd-network`.
package func remedy(enabling unit: String, orRunning listening: String) -> String {
    FileManager.default.fileExists(atPath: "/run/systemd/system")
        ? "systemctl enable --now clientsecretd-\(unit).socket"
        : "/usr/libexec/clientsecretd/clientsecretd-network \(listening)"
}
