extension ShellCommand {
    /// Opens `directory` to a service whose unit lets it write to few places, and starts the service anew with that. Not
    /// for a path that a unit file would have to quote.
    ///
    /// - Parameter unit: one with systemd's sandbox around it.
    package static func letWrite(_ unit: String = daemonUnit, to directory: String) -> ShellCommand {
        let folder = "/etc/systemd/system/\(unit).d"
        let line: ShellCommand =
            #"printf '[Service]\nReadWritePaths=-%s\n' \#(plain: directory) >>\#(folder + "/outputs.conf")"#
        return ("install -d \(folder)" as ShellCommand).then(line).then("systemctl daemon-reload")
            .then("systemctl restart \(unit)")
    }

    /// Makes `directory` and gives it to `user`, below /run at every boot.
    package static func makeDirectory(_ directory: String, of user: String) -> ShellCommand {
        guard directory.hasPrefix("/run/") else { return "install -d -o \(user) \(directory)" }
        let file = "/etc/tmpfiles.d/clientsecretd-outputs.conf"
        let line: ShellCommand = #"printf 'd %s 0755 %s root\n' \#(plain: directory) \#(plain: user) >>\#(file)"#
        return line.then("systemd-tmpfiles --create \(file)")
    }

    /// The daemon's unit.
    package static let daemonUnit = "clientsecretd.service"
}
