package import Failures

/// Units that an administrator has masked (systemctl(1), `mask`): systemd starts none of them. No command undoes it, because
/// an administrator did it on purpose.
package enum UnitMask {
    /// The remedy if a helper of the daemon cannot be reached at its socket, because the socket's unit or its service is masked.
    /// Nil if none of them is.
    ///
    /// - Parameters:
    ///   - socket: the socket's unit.
    ///   - next: what is needed after that; nil: nothing.
    package static func remedy(ofSocket socket: String, then next: ShellCommand? = nil) -> Remedy? {
        remedy(in: directories, ofSocket: socket, then: next)
    }

    /// The remedy if this unit itself is masked; nil if it is not.
    ///
    /// - Parameter next: what the unit needs after that; nil: nothing.
    package static func remedy(of unit: String, then next: ShellCommand? = nil) -> Remedy? {
        remedy(in: directories, of: names(of: unit), then: next)
    }

    /// The directories with links that mask a unit. A boot empties the second one, and systemctl(1) removes the links in it only
    /// with `--runtime`.
    private static let directories = ["/etc/systemd/system", "/run/systemd/system"]

    static func remedy(in directories: [String], ofSocket socket: String, then next: ShellCommand? = nil) -> Remedy? {
        remedy(in: directories, of: units(ofSocket: socket), then: next)
    }

    static func remedy(
        in directories: [String], of units: [String], then next: ShellCommand? = nil
    ) -> Remedy? {
        for name in units {
            let masking = directories.indices.filter {
                ForeignFile.link("\(directories[$0])/\(name)") == "/dev/null"
            }
            if masking.isEmpty { continue }
            var commands = masking.compactMap { $0 == 0 ? ShellCommand.unmask(name) : ShellCommand.unmaskRuntime(name) }
            if let next { commands.append(next) }
            return .say(
                "\(name) is masked: unmask it, if it is meant to run",
                see: commands.dropFirst().reduce(commands.first) { $0?.then($1) })
        }
        return nil
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
