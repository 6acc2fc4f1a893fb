/// Commands to systemd about the units.
extension ShellCommand {
    /// The unit that runs the daemon which this process is, or is about; nil if that is not known.
    package static var daemonUnit: String? { CommandContext.current.daemonUnit }

    /// Has systemd listen for one of the package's services. Nil if the daemon looks for its socket elsewhere.
    package static func listen(_ socket: String) -> ShellCommand? {
        let context = CommandContext.current
        return context.hasSystemd && context.socket == nil ? enableNow(socket) : nil
    }

    /// Has systemd open the status socket of the package's service and pass it. Nil if another unit may run the daemon.
    package static var passStatusSocket: ShellCommand? {
        let context = CommandContext.current
        guard context.socket == nil, context.daemonUnit == PackageUnit.daemon else { return nil }
        return restart(PackageUnit.daemon)
    }

    /// Has systemd listen again at the credential socket of the package's service. Nil if another unit may run the daemon.
    package static var passCredentialSocket: ShellCommand? {
        let unit = PackageUnit.daemon
        guard daemonUnit == unit else { return nil }
        return listenAgain(PackageUnit.credentialSocket, of: unit, isWanted: true)
    }

    /// Has systemd listen again at a socket that it has given up, or whose file is gone: it never creates the file again while it
    /// listens there. It refuses to start the socket while the service runs that the socket starts.
    ///
    /// - Parameters:
    ///   - service: the service that the socket starts; nil for one that starts an instance for each connection.
    ///   - isWanted: whether the service runs also when nothing has connected.
    package static func listenAgain(_ socket: String, of service: String?, isWanted: Bool) -> ShellCommand? {
        guard CommandContext.current.socket == nil else { return nil }
        let both = [socket, service].compactMap(\.self)
        return unit("reset-failed", socket)?.then(unit("stop", both))?.then(unit("start", isWanted ? both : [socket]))
    }

    /// Stops the daemon's service, and with it its sockets, and starts both: systemd never recreates a socket that was removed
    /// while it listens there.
    package static var startAgain: ShellCommand? {
        daemonUnit.flatMap { name in stop(name)?.then(start(name)) }
    }

    /// Has systemd listen for one of the package's services after the next start too.
    package static func enable(_ socket: String) -> ShellCommand? { unit("enable", socket) }

    /// Nil if the unit is not known.
    package static func restart(_ name: String? = daemonUnit) -> ShellCommand? {
        name.flatMap { unit("restart", $0) }
    }

    package static func start(_ name: String) -> ShellCommand? { unit("start", name) }

    private static func stop(_ name: String) -> ShellCommand? { unit("stop", name) }

    package static func unmask(_ name: String) -> ShellCommand? { unit("unmask", name) }

    /// The same for a mask that the next boot ends.
    package static func unmaskRuntime(_ name: String) -> ShellCommand? { unit("unmask", [name], flags: ["--runtime"]) }

    /// Has a running unit read its credentials and configuration again. The programs of a reload need the same as a start.
    package static func reloadUnit(_ name: String? = daemonUnit) -> ShellCommand? {
        name.flatMap { unit("reload", $0) }
    }

    private static func unit(_ verb: String, _ name: String) -> ShellCommand? { unit(verb, [name]) }

    private static func unit(_ verb: String, _ names: [String], flags: [String] = []) -> ShellCommand? {
        let context = CommandContext.current
        // A name that begins with "-" would be an option.
        guard context.hasSystemd, !names.contains(where: { $0.hasPrefix("-") }),
            !["start", "restart", "reload"].contains(verb) || context.unstartable.isDisjoint(with: names)
        else { return nil }
        return ShellCommand("systemctl \([verb] + flags + names)")
    }

    /// Enables a unit and starts it.
    package static func enableNow(_ name: String) -> ShellCommand? {
        let isBarred = name.hasPrefix("-") || CommandContext.current.unstartable.contains(name)
        return isBarred ? nil : ShellCommand("systemctl enable --now \(name)")
    }

    /// Adds the service's user and groups, as its sysusers.d(5) file describes them. Does not change an existing user.
    package static let addServiceUser = ShellCommand(constant: "systemd-sysusers clientsecretd.conf")

    /// Has systemd read its units' files again.
    package static let readUnits = ShellCommand(constant: "systemctl daemon-reload")

    /// Lets a unit write to `directory`, and restarts it if it runs. Nil if anything but its sandbox makes the directory
    /// read-only.
    package static func letWrite(
        _ unit: String? = daemonUnit, to directory: String, readOnlyBy cause: ReadOnlyCause
    ) -> ShellCommand? {
        guard cause == .sandbox, CommandContext.current.hasSystemd, let unit else { return nil }
        return addSettings([UnitFileLine.paths("ReadWritePaths", directory)], to: unit)
    }

    /// Lets a unit give files to a group, and restarts it if it runs.
    ///
    /// - Parameter group: one that the account database has: without it the unit would not start.
    package static func letGive(_ unit: String, to group: String) -> ShellCommand? {
        guard CommandContext.current.hasSystemd else { return nil }
        return addSettings([UnitFileLine.supplementaryGroup(group)], to: unit)
    }

    /// Adds settings to a service, and restarts it if it runs and can be started.
    ///
    /// - Parameter lines: quoted as a unit file needs it.
    package static func addSettings(_ lines: [String], to unit: String) -> ShellCommand? {
        let added = adding(lines, to: unit)
        if CommandContext.current.unstartable.contains(unit) { return added }
        return added?.then(ShellCommand("systemctl try-restart \(unit)"))
    }

    /// Adds settings by which an application's service takes a client's secret from the daemon. It is restarted where it runs, but
    /// only once the daemon has the configuration and the secret: what runs now would be gone. A failure of other clients must not
    /// keep it from the restart, because no later check would ask for one.
    package static func addSettings(
        _ lines: [String], toReader unit: String, of client: String
    ) -> ShellCommand? {
        let context = CommandContext.current
        let added = adding(lines, to: unit)
        guard context.hasDaemon, let loaded = reload(for: client), !context.unstartable.contains(unit) else {
            return added
        }
        return added?.then(loaded)?.then(ShellCommand("systemctl try-restart \(unit)"))
    }

    private static func adding(_ lines: [String], to unit: String) -> ShellCommand? {
        let file = outputsFile(of: unit)
        let lines = CommandContext.current.missing(lines, from: file.path)
        // systemd may not have read them yet.
        if lines.isEmpty { return readUnits }
        let directory = ShellCommand("mkdir -p \(file.directory)")
        return directory?.then(append(["[Service]"] + lines, to: file.path))?.readableByAll.then(readUnits)
    }

    /// The drop-ins of all services with the needs of their outputs, as a pattern.
    package static let outputsFiles = "/etc/systemd/system/*.d/outputs.conf"

    /// The drop-in of a service with the needs of its outputs.
    package static func outputsFile(of unit: String) -> (directory: String, path: String) {
        let directory = "/etc/systemd/system/\(unit).d"
        return (directory, directory + "/outputs.conf")
    }
}
