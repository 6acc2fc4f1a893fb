import Config
import Failures
import Linux
import Model
import Outputs
import Systemd

/// The settings of a unit in effect: which of its requirements are not met, and what to do.
struct UnitInEffect {
    let name: String
    let settings: UnitSettings

    /// Whether it logs in elsewhere, with files that it or the configuration names.
    private var logsIn: Bool { name == PackageUnit.store || PackageUnit.isPusher(name) }

    /// Whether its next start may succeed, as far as is known. Blocks.
    var canStart: Bool { settings.missing.isEmpty && problemWithAccounts == nil }

    /// Its user, which trusts only root if systemd creates it.
    var identity: Identity {
        Identity.current().acting(for: settings.user.flatMap { try? Accounts.user(named: $0) })
    }

    /// Problems that keep it from its next start, a failure for each. The files of a service that pushes are reported for its
    /// targets, and those of the one that asks the store for the store. Blocks.
    var problemsAtStart: [Failure] {
        let missing = logsIn ? [] : settings.missing
        var found = missing.map { need in
            Failure(.unitCannotStart, at: .named(name), detail: Self.words(need), remedy: .say(advice(for: need)))
        }
        if let (detail, remedy) = problemWithAccounts {
            found.append(Failure(.unitCannotStart, at: .named(name), detail: detail, remedy: remedy))
        }
        return found
    }

    /// Why systemd cannot start it as its user or in its groups, and the remedy; nil if it can, or that is not known. Blocks.
    private var problemWithAccounts: (detail: String, remedy: Remedy)? {
        guard settings.hasUsableUser else {
            let name = PackageUnit.isPusher(name) ? "a shorter name for the target, without dots, or" : "another"
            return (
                "systemd accepts no user name this long or with such characters",
                .say("write \(name) User= into its [Service] section with systemctl edit \(self.name)")
            )
        }
        // The daemon's own user is reported by itself, and a writer's for its files.
        let isRole = logsIn || name == PackageUnit.verifier
        let unknown = settings.unknownAccounts.first { isRole || $0.setting == "SupplementaryGroups" }
        guard let (setting, account) = unknown else { return nil }
        let kind = setting == "User" ? "user" : "group"
        let place = settings.place(of: setting, containing: account).map { "in \(Printable.name($0.file)):\($0.line)" }
        return (
            "\(setting)=\(Printable.name(account)) names a \(kind) that does not exist",
            .say("correct it \(place ?? "with systemctl edit \(name)"), or add the \(kind)")
        )
    }

    /// The problem that its next start is passed another credential than the process that runs, or none.
    ///
    /// - Parameter file: the credential's, if it has changed since the start.
    func problem(withCredential credential: String, changed file: String? = nil) -> Failure? {
        if let file {
            return Failure(
                .credentialMissing, at: .credential(credential),
                detail: "\(Printable.name(file)) has changed since \(name) was started, and systemd passes "
                    + "credentials only at a start",
                remedy: .restarting(name))
        }
        guard !settings.loads(credential), let (detail, remedy) = explanation(needing: credential) else { return nil }
        return Failure(
            .credentialMissing, at: .credential(credential),
            detail: "\(detail), so only the process that runs still has it", remedy: remedy)
    }

    /// Why it does not get a file that the configuration names for it; nil if no reason is known. Blocks.
    func objection(to file: AbsolutePath) -> String? {
        if let setting = setting(hiding: file) { return "\(name) does not see \(file) (\(setting))" }
        // systemd makes the user of such a service, to whom no file belongs.
        guard settings.hasOnlyOwnUser, !file.isReadableByAll else { return nil }
        return "the user of \(name) may not read \(file)"
    }

    /// The setting that hides a file from it; nil if none does, or that is not known. Blocks.
    func setting(hiding file: AbsolutePath) -> String? {
        if case .hidden(let setting)? = settings.sandbox()?.view(of: file.description) { setting } else { nil }
    }

    /// The remedy for a file that a setting hides: to have it in another place. If that one is hidden, too, its setting is removed.
    ///
    /// - Parameters:
    ///   - setting: nil if it is only not readable.
    ///   - words: how the file gets to the other place.
    ///   - obstacle: the setting that hides the other place; nil if none does.
    func remedy(forHiddenBy setting: String?, _ words: String, unless obstacle: String?) -> Remedy {
        guard let obstacle else { return .say(words) }
        let removal = "remove \(obstacle) \(place(of: obstacle)), and restart \(name)"
        return .say(obstacle == setting ? removal : "\(removal), then \(words)")
    }

    /// Where to change a setting such as `InaccessiblePaths=/etc/app`, in words. The package's own file is not to be edited.
    private func place(of setting: String) -> String {
        let (key, value) = (setting.prefix { $0 != "=" }, setting.drop { $0 != "=" }.dropFirst())
        let isPath = value.hasPrefix("/")
        let found = settings.place(of: String(key)) { assigned in
            // Of a setting that is no list, the last value counts.
            !isPath
                || assigned.split(whereSeparator: \.isWhitespace).contains { word in
                    word.drop { "\"'-+".contains($0) }.prefix { !"\"':".contains($0) } == value
                }
        }
        guard let found, found.file != settings.ownFile else { return "with systemctl edit \(name)" }
        return "in \(Printable.name(found.file)):\(found.line)"
    }

    /// Why it does not get its requirement, and the remedy.
    ///
    /// - Parameter credential: its requirement in addition to those that its own file names.
    func explanation(needing credential: String?) -> (detail: String, remedy: Remedy)? {
        let removed = settings.removedCredentials
        if let file = removed.first?.file {
            let names = removed.map { Printable.name($0.name) }.joined(separator: " and ")
            return (
                "\(name) names \(names), and \(Printable.name(file)) removes \(removed.count == 1 ? "it" : "them")",
                .say(Self.advice(for: name, removed))
            )
        }
        if let need = settings.missing.first {
            return ("\(name): \(Self.words(need))", .say(advice(for: need)))
        }
        guard let credential, !settings.loads(credential) else { return nil }
        return (
            "\(name) has no LoadCredential= for \(Printable.name(credential))",
            .say(
                "write \(UnitFileLine.loadCredential(credential, from: "/path/to/file")) into its [Service] section, with systemctl edit \(name)"
            )
        )
    }

    private static func words(_ need: UnitSettings.Need) -> String {
        need.isLink
            ? "\(Printable.name(need.path)) is a link, where systemd makes the directory itself (\(need.setting)=)"
            : "it does not start without \(Printable.name(need.path)), which \(need.setting)= names"
    }

    private func advice(for need: UnitSettings.Need) -> String {
        if need.isLink {
            return "remove the link, and mount there what it leads to, with a bind mount"
        }
        if UnitSettings.pathLists.contains(need.setting) {
            return
                "create it, or put a \"-\" before the path, as in \(UnitFileLine.paths(need.setting, need.path)), with "
                + "systemctl edit \(name)"
        }
        let place = settings.place(of: need.setting, containing: need.path).map {
            "in \(Printable.name($0.file)):\($0.line)"
        }
        return "put it back, or correct that line \(place ?? "with systemctl edit \(name)"), before you restart \(name)"
    }

    /// How a unit gets credentials again that a drop-in removes.
    static func advice(for unit: String, _ removed: [UnitSettings.RemovedCredential]) -> String {
        let lines = removed.map { Printable.name($0.assignment) }.joined(separator: " and ")
        let name = RealPath.name(of: removed.first?.file ?? "")
        return "write \(lines) into a drop-in of \(unit) whose name comes after \(Printable.name(name))"
    }

    /// The remedy if it reaches nothing; nil if no drop-in limits its addresses.
    private var remedyForAddresses: Remedy? {
        settings.addressLimit.map { limit in
            .say(
                "allow the address in \(Printable.name(limit.file)):\(limit.line), where \(limit.setting)= limits "
                    + "\(name); if it is allowed there, see whether a firewall is in the way")
        }
    }
}

extension UnitInEffect {
    /// Failures of a service that gave no answer, as one does that systemd cannot start.
    private static let silent: Set<Failure.Code> = [
        .pushServiceSilent, .storeServiceSilent, .verifierSilent, .writerSilent,
    ]

    /// The failure with systemd's facts about it: whether the unit gets the credential that it is about, which addresses it may
    /// reach, and why a service does not answer that cannot start. Blocks.
    ///
    /// - Parameters:
    ///   - writer: the user whose writer had to do the work; nil for other work.
    ///   - token: the credential that holds a target's token.
    static func explained(_ failure: Failure, writer: String?, token: (TargetName) -> String?) -> Failure {
        guard SystemManager.isSystemd, let (name, credential) = subject(of: failure, writer: writer, token: token)
        else { return failure }
        let found = SystemdClient.ask { systemd throws(UnitError) in
            try systemd.settings(of: UnitsInEffect.instance(of: name))
        }
        return found.map { UnitInEffect(name: name, settings: $0).explaining(failure, needing: credential) } ?? failure
    }

    /// The unit whose settings may explain a failure, and the credential that the failure is about; nil if there is none. Blocks.
    static func subject(
        of failure: Failure, writer: String?, token: (TargetName) -> String?
    ) -> (unit: String, credential: String?)? {
        switch (failure.code, failure.place) {
        case (.credentialMissing, .credential(let missing)):
            // Another daemon than the package's runs in a unit of its own.
            (CommandContext.current.unit ?? ServiceUnit.ofDaemon()?.name).map { ($0, missing) }
        case (.pushTokenUnusable, .target(let target)), (.pushUnconfigured, .target(let target)):
            (PackageUnit.pusher(of: target), token(target))
        case (.pushServiceSilent, .target(let target)), (.pushUnreachable, .target(let target)):
            (PackageUnit.pusher(of: target), nil)
        case (.verifierSilent, _): (PackageUnit.verifier, nil)
        case (.readOnlyFileSystem, _): writer.map { (PackageUnit.writer(of: $0), nil) }
        // One that was started and does not respond is stuck.
        case (.writerSilent, _) where failure.cause != ErrorNumber.timedOut:
            writer.map { (PackageUnit.writer(of: $0), nil) }
        case (.storeUnconfigured, _), (.storeFileUnusable, _), (.storeServiceSilent, _), (.storeUnreachable, _):
            (PackageUnit.store, nil)
        default: nil
        }
    }

    /// The failure with what its settings say about it. Blocks.
    ///
    /// - Parameter credential: its requirement in addition to those that its own file names.
    func explaining(_ failure: Failure, needing credential: String?) -> Failure {
        if failure.code == .pushUnreachable || failure.code == .storeUnreachable {
            return remedyForAddresses.map { failure.with($0) } ?? failure
        }
        if failure.code == .readOnlyFileSystem { return explaining(readOnly: failure) }
        if let (detail, remedy) = explanation(needing: credential) {
            return failure.with(remedy, detail: detail)
        }
        if failure.code == .credentialMissing {
            // This user may not see whether a file is missing, and a restart that fails would take down the running service.
            let remedy =
                settings.needs.first.map { need in
                    Remedy.say("see that \(Printable.name(need.path)) is there, then restart \(name)")
                } ?? .say(failure.detail == nil ? "start it" : "restart it", run: .restart(name))
            return failure.with(remedy, detail: failure.detail ?? "\(name) names it, and was not started since")
        }
        guard Self.silent.contains(failure.code) else { return failure }
        if let (detail, remedy) = problemWithAccounts {
            return failure.with(remedy, detail: "\(name): \(detail)")
        }
        return settings.startFailure.map { reason in
            failure.with(failure.remedy, detail: "systemd could not start \(name): \(reason)")
        } ?? failure
    }

    /// The failure of a writer, without the advice to let it write where its settings do already, or where no line has an effect.
    private func explaining(readOnly failure: Failure) -> Failure {
        guard case .path(let path) = failure.place else { return failure }
        let user = settings.user.flatMap { try? Accounts.userID($0) }
        let directory = user.flatMap { FileHome.directory(of: path, forUser: $0) } ?? path.directory
        guard failure.remedy == OutputRemedy.ofReadOnly(directory, for: name) else { return failure }
        return switch settings.sandbox()?.view(of: directory.description) {
        case .writable?: failure.with(.say("mount it writable, or \(OutputRemedy.anotherPath)"))
        case .readOnly(by: let setting, canBeOpened: false)?:
            failure.with(
                .say(OutputRemedy.anotherPath), detail: "\(name) may not write to \(directory) (\(setting))")
        case .readOnly?, .hidden?, nil: failure
        }
    }
}
