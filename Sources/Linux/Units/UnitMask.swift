package import Failures

/// Units that an administrator has masked (systemctl(1), `mask`): systemd starts none of them. No command undoes it, because
/// an administrator did it on purpose.
package enum UnitMask {
    /// The remedy if a helper of the daemon cannot be reached at its socket, because the socket's unit or its service is masked.
    /// Nil if none of them is.
    ///
    /// - Parameter socket: the socket's unit.
    package static func remedy(ofSocket socket: String) -> Remedy? { remedy(in: directories, ofSocket: socket) }

    /// The remedy if this unit itself is masked; nil if it is not.
    package static func remedy(of unit: String) -> Remedy? { remedy(in: directories, of: names(of: unit)) }

    /// The directories with links that mask a unit.
    private static let directories = ["/etc/systemd/system", "/run/systemd/system"]

    static func remedy(in directories: [String], ofSocket socket: String) -> Remedy? {
        remedy(in: directories, of: units(ofSocket: socket))
    }

    private static func remedy(in directories: [String], of units: [String]) -> Remedy? {
        let masked = units.first { name in
            directories.contains { ForeignFile.link("\($0)/\(name)") == "/dev/null" }
        }
        return masked.map { .say("\($0) is masked: unmask it, if it is meant to run", see: .unmask($0)) }
    }

    /// The socket, the service that it starts, or one for each connection, and the templates of these.
    private static func units(ofSocket socket: String) -> [String] {
        let stem = socket.hasSuffix(".socket") ? String(socket.dropLast(".socket".count)) : socket
        let services = [stem + ".service"] + (stem.contains("@") ? [] : [stem + "@.service"])
        return ([socket] + services).flatMap(names)
    }

    /// A unit and its template.
    private static func names(of unit: String) -> [String] { [unit, UnitTemplate.name(of: unit)].compactMap(\.self) }
}
