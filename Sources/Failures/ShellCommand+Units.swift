/// Commands to systemd about the units.
extension ShellCommand {
    /// The daemon's unit.
    package static let daemonUnit = "clientsecretd.service"

    /// Has systemd listen for one of the package's services. Nil where the daemon looks for its socket elsewhere.
    package static func listen(_ socket: String) -> ShellCommand? {
        let context = CommandContext.current
        return context.hasSystemd && context.socket == nil ? enableNow(socket) : nil
    }

    /// Has systemd open the daemon's status socket and pass it.
    package static var passStatusSocket: ShellCommand? {
        let context = CommandContext.current
        guard context.hasSystemd, context.socket == nil else { return nil }
        return unmask("clientsecretd.socket")?.then(restart())
    }

    /// Has systemd listen again at a socket that it has given up.
    package static func resetFailed(_ socket: String) -> ShellCommand? {
        unit("reset-failed", socket)?.then(start(socket))
    }

    /// Has systemd listen for one of the package's services after the next start too.
    package static func enable(_ socket: String) -> ShellCommand? { unit("enable", socket) }

    package static func restart(_ name: String = daemonUnit) -> ShellCommand? { unit("restart", name) }

    package static func start(_ name: String) -> ShellCommand? { unit("start", name) }

    package static func unmask(_ name: String) -> ShellCommand? { unit("unmask", name) }

    /// Has a running unit read its credentials and configuration again.
    package static func reloadUnit(_ name: String = daemonUnit) -> ShellCommand? { unit("reload", name) }

    private static func unit(_ verb: String, _ name: String) -> ShellCommand? {
        // A name that begins with "-" would be an option.
        CommandContext.current.hasSystemd && !name.hasPrefix("-") ? ShellCommand("systemctl \(verb) \(name)") : nil
    }

    /// Enables a unit and starts it.
    package static func enableNow(_ name: String) -> ShellCommand? {
        name.hasPrefix("-") ? nil : ShellCommand("systemctl enable --now \(name)")
    }

    /// Has systemd read its units' files again.
    package static let readUnits = ShellCommand(constant: "systemctl daemon-reload")

    /// Lets a unit write to `directory`, and restarts it where it runs. Nil where anything but its sandbox makes the
    /// directory read-only.
    package static func letWrite(
        _ unit: String = daemonUnit, to directory: String, readOnlyBy cause: ReadOnlyCause
    ) -> ShellCommand? {
        guard cause == .sandbox, CommandContext.current.hasSystemd else { return nil }
        return addSettings([UnitSetting.paths("ReadWritePaths", directory)], to: unit)
    }

    /// Adds settings to a service, and restarts it where it runs.
    ///
    /// - Parameter lines: quoted as a unit file needs it.
    package static func addSettings(_ lines: [String], to unit: String) -> ShellCommand? {
        let file = outputsFile(of: unit)
        return ShellCommand(
            #"install -d \#(file.directory) && printf '%s\n' \#(["[Service]"] + lines) >>\#(file.path) && systemctl daemon-reload && systemctl try-restart \#(unit)"#
        )
    }

    /// The drop-in of a service for what its outputs need.
    package static func outputsFile(of unit: String) -> (directory: String, path: String) {
        let directory = "/etc/systemd/system/\(unit).d"
        return (directory, directory + "/outputs.conf")
    }
}
