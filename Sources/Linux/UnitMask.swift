package import Failures

/// Units that an administrator has masked (systemctl(1), `mask`): systemd starts none of them. No command undoes it, because
/// somebody did it on purpose.
package enum UnitMask {
    /// What helps where a helper of the daemon cannot be reached at its socket, because the socket's unit or what it starts is
    /// masked; nil where none of them is.
    ///
    /// - Parameter socket: the socket's unit.
    package static func remedy(ofSocket socket: String) -> Remedy? {
        remedy(in: ["/etc/systemd/system", "/run/systemd/system"], ofSocket: socket)
    }

    /// - Parameter directories: where the links are that mask a unit.
    static func remedy(in directories: [String], ofSocket socket: String) -> Remedy? {
        let names = units(ofSocket: socket)
        let masked = names.first { name in
            directories.contains { ForeignFile.link("\($0)/\(name)") == "/dev/null" }
        }
        return masked.map { .say("\($0) is masked: unmask it, if it is meant to run", see: .unmask($0)) }
    }

    /// The socket, the service that it starts, or one for each connection, and the templates of these.
    private static func units(ofSocket socket: String) -> [String] {
        let stem = socket.hasSuffix(".socket") ? String(socket.dropLast(".socket".count)) : socket
        let services = [stem + ".service"] + (stem.contains("@") ? [] : [stem + "@.service"])
        return ([socket] + services).flatMap { [$0, UnitTemplate.name(of: $0)].compactMap(\.self) }
    }
}
