extension ShellCommand {
    /// Lets a sandboxed service write to `directory`, and restarts the service. There is no command for a path that a
    /// unit file would have to quote.
    ///
    /// - Parameter unit: the service, restricted by systemd's sandbox.
    package static func letWrite(_ unit: String = daemonUnit, to directory: String) -> ShellCommand {
        let folder = "/etc/systemd/system/\(unit).d"
        let line: ShellCommand =
            #"printf '[Service]\nReadWritePaths=-%s\n' \#(plain: directory) >>\#(folder + "/outputs.conf")"#
        return ("install -d \(folder)" as ShellCommand).then(line).then("systemctl daemon-reload")
            .then("systemctl restart \(unit)")
    }

    /// Creates `directory`, owned by `user`; below /run at every boot.
    package static func makeDirectory(_ directory: String, of user: String) -> ShellCommand {
        guard directory.hasPrefix("/run/") else { return "install -d -o \(user) \(directory)" }
        let file = "/etc/tmpfiles.d/clientsecretd-outputs.conf"
        let line: ShellCommand = #"printf 'd %s 0755 %s root\n' \#(plain: directory) \#(plain: user) >>\#(file)"#
        return line.then("systemd-tmpfiles --create \(file)")
    }

    /// The daemon's unit.
    package static let daemonUnit = "clientsecretd.service"
}
