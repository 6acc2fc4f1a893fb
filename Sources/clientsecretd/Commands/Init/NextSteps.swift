import Failures
import Linux
import Model

/// The remaining steps after `init`, in their order.
struct NextSteps {
    /// Whether 'check' finds nothing missing.
    var isComplete = true
    /// Of the service.
    var mask: Remedy?
    /// The step that makes a daemon use the new file; nil if one does.
    var start: Remedy?
    /// The step for the person if the application reads another secret than the renewed one.
    var change: String?
    /// The key's file, if the service has a copy of it.
    var copiedKey: AbsolutePath?

    var lines: [String] {
        let check = ShellCommand.doctor.map { "check the whole path: \($0.text)" }
        let keep = copiedKey.map {
            "once it shows no broken link, keep \(Printable.name($0.description)) as a backup elsewhere and delete it here: the service has a copy"
        }
        let fix = isComplete ? nil : "fix what is missing, as shown above"
        let steps = [fix, mask?.description, start?.description, change, check, keep].compactMap(\.self)
        return steps.isEmpty ? [] : ["Next:"] + steps.map { "  " + $0 }
    }
}

extension NextSteps {
    /// - Parameters:
    ///   - path: the configuration's.
    ///   - isAdded: whether a client was added to it.
    static func start(_ path: String, isAdded: Bool) -> Remedy {
        if ServiceUser.isServices(path) {
            return isAdded
                ? .say("load it into the service: systemctl reload-or-restart clientsecretd")
                : .say("start the service", run: .enableNow(PackageUnit.daemon))
        }
        if !isAdded, CommandContext.current.socket == nil, FileStatus.following(SocketOption.standard)?.kind == .socket
        {
            let socket = (path.hasSuffix(".yaml") ? String(path.dropLast(5)) : path) + ".sock"
            return .say(
                "write \"state_dir\" with another directory into it, because the default socket and state directory are the "
                    + "service's, and start its daemon", run: .runDaemon(at: socket))
        }
        guard isAdded else { return .say("start its daemon", run: .runDaemon) }
        return ShellCommand.reload.map { .say("load it into its daemon", run: $0) }
            ?? .say("run 'clientsecretd reload' with --socket and the path of its daemon's socket")
    }

    /// The step for the person if nothing restarts an application that reads the secret only when it starts; nil if it needs none.
    static func restart(_ new: NewConfigurationFile, _ app: AppPreset?) -> String? {
        guard new.unit == nil, case .file(let output)? = new.destination, output.variable != nil || app?.verb != nil
        else { return nil }
        if let app, app.verb == nil { return nil }
        let words = "start the application again now and after each renewal, because nothing else does"
        let condition = app?.alternative.map { ", unless it runs \($0)" } ?? ""
        return words + condition + (app?.runs.map { ": \($0)" } ?? "")
    }

    /// - Parameters:
    ///   - file: the file from which the application reads its secret now, with its content.
    ///   - new: the new settings.
    static func change(
        _ file: AbsolutePath?, _ found: FoundClient?, to new: NewConfigurationFile, _ app: AppPreset?
    ) -> String? {
        guard let file, case .unwritable(let line, _)? = found?.place else { return nil }
        let advice: String
        switch new.destination {
        case .file(let output)?:
            let path = output.path.description
            advice =
                app?.settings.map { "remove \($0.secret), write \($0.file.replacing("@", with: path))" }
                ?? output.variable.map { "let the application read \($0) from \(path) instead of this line" }
                ?? "let the application read \(path) instead of this line"
        case .credential(let name)?: advice = "let the application read the credential \(name) instead of this line"
        case nil: return nil
        }
        let restart = new.verb == .restart ? new.unit.flatMap { ShellCommand.restart($0) } : nil
        return "\(Printable.name(file.description)):\(line): \(advice); "
            + Remedy.say("then restart it once", run: restart).description
    }
}
