import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import SystemPackage
import Systemd

/// `init`: writes a first configuration, and what the service and the secret's reader need besides.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a first configuration.",
        discussion: """
            Asks at a terminal for what the flags do not say, shows what it would write and asks before it does; without \
            a terminal the flags have to say it all, and are the answer. An existing configuration is never overwritten; \
            '--config -' prints it instead.

            Root's first configuration of the service comes with what belongs to it: the lines that the service's \
            sandbox lacks, the drop-in of the unit that reads the secret, the directory, and polkit's rule. A file that \
            exists keeps what it holds and gets lines besides. With '--now' the service is enabled and started then. In \
            the end it says what 'check' says, and exits like it.
            """)

    @OptionGroup var settings: ConfigurationOption

    @Option(help: ArgumentHelp("The team's id.", valueName: "id"), transform: Flags.team)
    var teamID: TeamID?

    @Option(help: ArgumentHelp("The Services ID or App ID.", valueName: "id"), transform: Flags.clientID)
    var clientID: ClientID?

    @Option(
        help: ArgumentHelp("The private key from Apple.", valueName: "file"), completion: .file(),
        transform: Flags.path)
    var key: AbsolutePath?

    @Option(
        help: ArgumentHelp("The key's id (default: from a file name AuthKey_<KEYID>.p8).", valueName: "id"),
        transform: Flags.keyID)
    var keyID: KeyID?

    @Option(help: "The client's name, for people (default: web).", transform: Flags.clientName)
    var name: ClientName?

    @Option(
        help: ArgumentHelp("Where the secret is written.", valueName: "file"), completion: .file(),
        transform: Flags.path)
    var output: AbsolutePath?

    @Option(help: "How the secret is written (default: as in the file, or raw).")
    var format: FormOptions.Format?

    @Option(
        help: ArgumentHelp("The variable that \(FormOptions.Format.withVariable) sets.", valueName: "name"),
        transform: Flags.variable)
    var variable: String?

    @Option(
        name: .customLong("as"), help: ArgumentHelp("The user whose file it is.", valueName: "user"),
        transform: Flags.account)
    var user: String?

    @Option(help: ArgumentHelp("The group that may read the file.", valueName: "group"), transform: Flags.account)
    var group: String?

    @Option(
        help: ArgumentHelp("The credential that the unit of --restart gets, instead of a file.", valueName: "name"),
        transform: Flags.credential)
    var credential: String?

    @Option(
        help: ArgumentHelp("The unit that is restarted when the secret has changed.", valueName: "unit"),
        transform: Flags.unit)
    var restart: String?

    @Flag(help: "Enable and start the service as well; a unit of --restart that runs is restarted with the secret.")
    var now = false

    @Flag(help: "Write without asking.")
    var yes = false

    /// What the flags say.
    var given: SetupAnswers {
        SetupAnswers(
            key: key, keyID: keyID, team: teamID, client: clientID, name: name, output: output, format: format,
            variable: variable, user: user, group: group, credential: credential, unit: restart
        ).withFormatOfOutput()
    }

    mutating func validate() throws {
        try given.validate(canAsk: Self.dialog != nil)
    }

    func run() throws {
        let path = settings.path(Environment.current)
        let isPrinted = path == NamedFile.standardInput
        guard !now || path == ConfigurationOption.standard else {
            throw CommandFailure(
                .usage,
                "--now is for systemd's service, which reads \(ConfigurationOption.standard); leave out --now or --config"
            )
        }
        guard !now || SystemManager.isSystemd else {
            throw CommandFailure(
                .usage, "--now is for systemd's service, and systemd does not run here; leave out --now")
        }
        if !isPrinted {
            if FileStatus.following(path) != nil { throw Self.existing(path) }
            if let key { try Self.checkIsReadable(key) }
        }
        let dialog = Self.dialog
        let first = try (dialog?.complete(given) ?? given).configuration()
        if !isPrinted, key == nil { try Self.checkIsReadable(first.key) }
        let text = first.text(isOfService: ServiceUser.isServices(path))
        guard !isPrinted else {
            try CommandOutput.answer(bytes: Array(text.utf8))
            return
        }
        guard let place = ConfigurationLoader.absolutePath(of: path) else {
            throw CommandFailure(.usage, "--config needs the path of a file")
        }
        // A mistake, such as an output that is the key, is reported before anything is written.
        let source = SourceFile(name: path, path: place, bytes: Array(text.utf8))
        _ = try accepted(ConfigurationParser.parse(main: source))
        var others = ServiceUser.isServices(path) ? try Self.systemFiles(for: first) : SystemFiles()
        if now { others.commands.append(["systemctl", "enable", "--now", "clientsecretd.service"]) }
        // The configuration comes last: until it is there, all of this can be done again.
        let writer = try SetupWriter(others.files + [SystemFiles.File(path: place.description, lines: text)])
        if let dialog, !yes {
            for line in writer.preview + Self.preview(of: others.commands) { dialog.say(Printable.line(line)) }
            guard try dialog.agrees() else { throw CommandFailure(.failed, "nothing is written") }
        }
        try writer.write()
        for command in others.commands { Self.run(command) }
        // The service reads no other configuration.
        let command =
            ServiceUser.isServices(path)
            ? "systemctl enable --now clientsecretd" : "clientsecretd run --config \(ShellWord.quoted(path))"
        let start =
            now
            ? ""
            : """
             Start it once nothing is missing for it, by
              \(command)
            """
        try CommandOutput.answer(
            """
            Wrote \(writer.written.joined(separator: ", ")).\(start)
            What is missing is listed by
              clientsecretd check --config \(ShellWord.quoted(path))
            which says now:
            """)
        // Last, because it gives up root's rights.
        try CheckCommand.parse(["--config", path]).run()
    }

    /// A configuration that was written for a mistyped key would have to be removed before the next try.
    private static func checkIsReadable(_ key: AbsolutePath) throws(CommandFailure) {
        guard unsafe access(key.description, R_OK) != 0 else { return }
        throw CommandFailure(
            .unreadable,
            "\(Printable.name(key.description)) cannot be read: \(CommandOutput.text(ofErrno: errno)); name Apple's key file "
                + "with --key; nothing is written")
    }

    private static func existing(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(path) exists and is left as it is; name another with --config, or remove it")
    }

    /// Asks at the terminal; nil where nobody would answer.
    private static var dialog: SetupDialog? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        return SetupDialog(
            ask: { question in
                _ = CommandOutput.write(Array(Printable.line(question).utf8), to: STDERR_FILENO)
                return readLine()
            },
            say: { CommandOutput.complain(lines: $0) })
    }

    /// What the service on this machine needs.
    private static func systemFiles(for first: FirstConfiguration) throws(CommandFailure) -> SystemFiles {
        var dropIns: [DropIn] = []
        if case .file(let file) = first.destination {
            let directory = file.path.directory.description
            if let group = file.group, let status = FileStatus.following(directory) {
                let id = (try? Accounts.groupID(group)).flatMap { $0 }
                guard status.isSetGroupID, status.group == id else {
                    throw CommandFailure(
                        .failed,
                        "what lies in \(Printable.name(directory)) does not become \(group)'s; name a file in a directory "
                            + "that is made for it, such as /run/clientsecretd/\(first.name)/\(file.path.name)")
                }
            }
            dropIns = SandboxReview.dropIns(toWrite: file.path, writer: file.user)
        }
        return SystemFiles(
            for: first, dropIns: dropIns,
            rule: first.unit.flatMap { UnitPermission.rule(for: .unit(verb: .restart, unit: $0)) },
            isMissing: { directory in
                // Not what a link that leads nowhere points to.
                guard let service = (try? Accounts.user(named: ServiceUser.name)).flatMap({ $0 }) else {
                    return FileStatus.isAbsent(directory.description)
                }
                return ShellCommand.making(directory.description, for: service.id) != nil
            })
    }

    private static func preview(of commands: [[String]]) -> [String] {
        commands.isEmpty
            ? []
            : ["These commands would be run:"]
                + commands.map { "    " + $0.map(ShellWord.quoted).joined(separator: " ") }
    }

    /// A failure is only printed: `check` says what is still missing.
    private static func run(_ command: [String]) {
        let line = command.map(ShellWord.quoted).joined(separator: " ")
        do throws(SystemError) {
            let report = try ChildProcess.run(
                ["/usr/bin/" + command[0]] + command.dropFirst(), environment: Environment.current, timeout: 60_000)
            guard report.ending != .exited(0) else { return }
            CommandOutput.complain("this failed: \(line)")
            for line in report.lines { CommandOutput.complain(lines: "  " + line) }
        } catch {
            CommandOutput.complain("this failed: \(line): \(error.description)")
        }
    }
}

/// Writes files that have to hold certain lines, each atomically, or says beforehand what it would write.
private struct SetupWriter {
    private var changes: [(path: String, text: String, lines: String, isNew: Bool)] = []
    private let identity = Self.identity

    /// Reads what is there.
    init(_ files: [SystemFiles.File]) throws(CommandFailure) {
        for file in files {
            let old = try Self.old(file.path, identity)
            guard let text = file.text(after: old) else { continue }
            changes.append((file.path, text, file.lines, old == nil))
        }
    }

    /// polkit's directory for rules belongs to its own user, who decides about them anyway.
    private static var identity: Identity {
        Identity.current().trusting([FilePath(PolkitRule.file).removingLastComponent()])
    }

    private static func old(_ path: String, _ identity: Identity) throws(CommandFailure) -> String? {
        guard FileStatus.following(path) != nil else { return nil }
        do throws(FileError) {
            guard let content = try AtomicFile(path, as: identity).content else { return nil }
            guard let text = String(validating: content.bytes, as: UTF8.self) else {
                throw FileError(.systemError, at: path, detail: "it is not UTF-8")
            }
            return text
        } catch {
            throw failure(error)
        }
    }

    var written: [String] { changes.map { Printable.name($0.path) } }

    var preview: [String] {
        changes.flatMap { change in
            let heading =
                change.isNew ? "\(change.path) would hold:" : "\(change.path) would hold besides what is there:"
            let lines = change.lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return [heading] + lines.map { $0.isEmpty ? "" : "    " + $0 } + [""]
        }
    }

    func write() throws(CommandFailure) {
        for change in changes {
            do throws(FileError) {
                try makeDirectory((FilePath(change.path).removingLastComponent()))
                let file = try AtomicFile(change.path, as: identity)
                // What has come meanwhile is kept.
                guard (file.content == nil) == change.isNew else {
                    throw FileError(.changedMeanwhile, at: change.path)
                }
                try file.replace(
                    with: Array(change.text.utf8), mode: change.isNew ? 0o644 : nil, naming: TemporaryNames())
            } catch {
                throw Self.failure(error)
            }
        }
    }

    /// Below /etc alone: elsewhere a missing directory is more likely a mistyped one.
    private func makeDirectory(_ directory: FilePath) throws(FileError) {
        guard directory.starts(with: "/etc"), FileStatus.following(directory.string) == nil else { return }
        try makeDirectory(directory.removingLastComponent())
        try GuardedPath.makeDirectory(directory.string, mode: 0o755, as: identity)
    }

    private static func failure(_ error: FileError) -> CommandFailure {
        let reason = error.errno.map { ": \(CommandOutput.text(ofErrno: $0.rawValue))" } ?? ""
        switch error.code {
        case .permissionDenied:
            return CommandFailure(.notPermitted, "\(error.path) cannot be made\(reason)")
        case .directoryMissing, .missing:
            return CommandFailure(
                .failed, "\(error.path) cannot be made: its directory does not exist; make it with mkdir -p")
        default:
            return CommandFailure(.failed, "\(error.path) cannot be written: \(error.description)")
        }
    }
}
