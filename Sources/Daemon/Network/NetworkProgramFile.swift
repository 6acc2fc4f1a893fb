import Glibc
import Linux

/// The program `clientsecretd-network`, which has the network that this one has not.
package enum NetworkProgramFile {
    package static let name = "clientsecretd-network"
    /// The path at which Debian's package installs it.
    static let installed = "/usr/libexec/clientsecretd/\(name)"

    /// Whether a program started here may have a network. It may not in the sandbox of clientsecretd-once.service, which denies
    /// sockets for it to everything in it.
    static var mayHaveNetwork: Bool {
        [AF_INET, AF_INET6].contains { family in
            let raw = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard raw >= 0 else { return false }
            close(raw)
            return true
        }
    }

    /// Its file: next to this program as built, or where packages install it, as some distributions have no libexec. Nil if
    /// it is not installed, or without /proc.
    package static func path() -> String? {
        guard let own = OwnProgram.path() else { return nil }
        let folder = RealPath.directory(of: own)
        return ["", "../libexec/clientsecretd/", "../lib/clientsecretd/"].map { "\(folder)/\($0)\(name)" }
            .first { unsafe access($0, X_OK) == 0 }
    }
}
