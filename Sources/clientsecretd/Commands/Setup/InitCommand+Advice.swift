import Failures
import Linux
import Model

/// What is left to do after `init`.
extension InitCommand {
    /// What the person has to change where the application reads another secret than the one that is renewed; nil where that is
    /// the same place.
    static func change(
        _ file: AbsolutePath?, _ found: FoundClient?, to first: FirstConfiguration, _ app: AppPreset?
    ) -> String? {
        guard let file, case .unwritable(let line, _)? = found?.place else { return nil }
        let advice: String
        switch first.destination {
        case .file(let output)?:
            let path = output.path.description
            advice =
                app?.settings.map { "remove \($0.secret), write \($0.file.replacing("@", with: path))" }
                ?? output.variable.map { "let the application read \($0) from \(path) instead of this line" }
                ?? "let the application read \(path) instead of this line"
        case .credential(let name)?: advice = "let the application read the credential \(name) instead of this line"
        case nil: return nil
        }
        let restart = first.verb == .restart ? first.unit.flatMap { ShellCommand.restart($0) } : nil
        return "\(Printable.name(file.description)):\(line): \(advice); "
            + Remedy.say("then restart it once", run: restart).description
    }

    /// What makes a daemon use the file that was written.
    static func nextStep(_ path: String, isAdded: Bool) -> String {
        if ServiceUser.isServices(path) {
            let mask = maskOfService.map { "\nFirst: \($0)\n" } ?? " "
            return isAdded
                ? "\(mask)To load it into the service, run\n  systemctl reload-or-restart clientsecretd"
                : "\(mask)When nothing is missing, start the service with\n  systemctl enable --now clientsecretd"
        }
        let hint =
            SystemManager.isSystemd
            ? " The service does not read this file; it reads \(ConfigurationOption.standard)." : ""
        if !isAdded, CommandContext.current.socket == nil, FileStatus.following(SocketOption.standard)?.kind == .socket
        {
            let socket = (path.hasSuffix(".yaml") ? String(path.dropLast(5)) : path) + ".sock"
            let command = ShellCommand.runDaemon(at: socket).map { "\n  \($0.text)" } ?? " 'run' with --socket"
            return
                "\(hint) The default socket and state directory are the service's. To use it, write \"state_dir\" with another "
                + "directory into it, and run\(command)"
        }
        guard let command = isAdded ? ShellCommand.reload : ShellCommand.runDaemon else {
            let how =
                isAdded
                ? "run 'clientsecretd reload' with --socket and the path of its daemon's socket"
                : "start its daemon with 'run'"
            return "\(hint) To use it, \(how)."
        }
        return "\(hint) To use it, run\n  \(command.text)"
    }
}
