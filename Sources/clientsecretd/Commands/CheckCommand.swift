import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model

/// `check`: what `run` would do, without doing it.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the configuration and every key, and show what 'run' would do.",
        discussion: """
            Exits 78 if the configuration's text is refused and 1 if something in it could not work. Permissions are \
            checked as the user who runs it; as root, as the user that runs the daemon: the owner of the state \
            directory. The service's configuration is checked as the service's user, inside the sandboxes of the \
            service's and its writers' units as systemd has loaded them.

            '--fix' shows the lines that are missing, runs them, and checks again.

            Examples:
              clientsecretd check
              clientsecretd check --fix
            """)

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    @Flag(help: "As root, show the lines that are missing and run them.")
    var fix = false

    func run() throws { try run(after: nil) }

    /// - Parameter heading: what is printed above the report, which is then left out where nothing is missing; nil: the report is
    ///   what was asked for.
    func run(after heading: String?) throws {
        let path = settings.path(Environment.current)
        if fix { try CheckFix(["--config", path, "--socket", daemon.path(Environment.current)]).fix() }
        if let failure = ServiceUser.missing(for: path) {
            if answer.json {
                let commands = [failure.remedy?.command].compactMap(\.self)
                try CommandOutput.answer(DryRunReport.json(refused: [failure.sentence], commands: commands))
            }
            throw CommandFailure(.failed, failure.sentence)
        }
        try Hardening.protectSecrets()
        // Before root becomes the daemon's user, who may not read the application's other files, or see what units name. A
        // configuration that is not accepted is reported below.
        var hidden: [HiddenOutput]?
        var inEffect: UnitsInEffect?
        if geteuid() == 0, case .success(let loaded) = ConfigurationSource.ofService(path).load() {
            hidden = HiddenOutputs.all(of: loaded.configuration, at: .now)
            inEffect = ServiceUser.unitsInEffect(of: loaded.configuration, at: path)
        }
        let unit: ServiceUnit?
        do throws(SystemError) { unit = try ServiceUser.judge(configuration: path) } catch {
            throw CommandFailure(.failed, error.description)
        }
        let source = ConfigurationSource.ofCaller(path)
        let result = source.load()
        if case .failure(let error) = result, answer.json {
            try CommandOutput.answer(DryRunReport.json(refused: error.diagnostics.map(\.description)))
        }
        let isForeign = ServiceUser.isForeign(to: path)
        if isForeign { CommandOutput.complain(lines: ServiceUser.limits) }
        let loaded = try accepted(result)
        let diagnostics = loaded.warnings + loaded.readabilityWarnings
        for diagnostic in diagnostics {
            CommandOutput.complain(lines: diagnostic.description)
        }
        let dryRun = DryRun(
            of: loaded, from: source, socket: daemon.path(Environment.current), unit: unit, inEffect: inEffect)
        let positions = DiagnosticsOfFailures(in: loaded, withRemedies: !isForeign)
        let found = dryRun.problems.map { positions.diagnostic($0.failure, client: $0.client) }
        let problems = Set(found).sorted { ($0.position, $0.message) < ($1.position, $1.message) }.map(\.description)
        let commands = Self.commands(of: dryRun, positions)
        if let heading, !problems.isEmpty { try CommandOutput.answer(heading) }
        if heading == nil || !problems.isEmpty { try show(dryRun, of: loaded, isForeign ? [] : commands, problems) }
        let warnings = hidden ?? HiddenOutputs.all(of: loaded.configuration, at: .now)
        HidingWarnings.show(warnings)
        Self.warn(of: dryRun, positions)
        if !isForeign, ServiceUser.isServices(path), source.credentials == nil, unit?.isRunning != true,
            dryRun.problems.contains(where: { $0.failure.code == .credentialMissing })
        {
            let advice = Remedy.say(
                "start it and check again", see: ShellCommand.daemonUnit.flatMap(ShellCommand.start))
            CommandOutput.complain("credentials are there only while the service runs: \(advice)")
        }
        if !fix, !answer.json, !isForeign, !commands.isEmpty, let command = ShellCommand.checkFix {
            CommandOutput.complain("\(command.text), as root, runs the commands above")
        }
        guard problems.isEmpty else { throw CommandFailure(.failed, "") }
        if !answer.json, !isForeign, commands.isEmpty, diagnostics.isEmpty, warnings.isEmpty, !dryRun.hasWarnings {
            try CommandOutput.answer("Nothing is missing.")
        }
    }

    /// Shows what 'run' would do, and what is in its way.
    private func show(
        _ dryRun: DryRun, of loaded: LoadedConfiguration, _ commands: [String], _ problems: [String]
    ) throws {
        let report = DryRunReport(
            configuration: loaded.configuration, secrets: dryRun.secrets, now: .now,
            pushRequests: loaded.pushRequests, stateDirectoryMadeAtStart: dryRun.stateDirectoryMadeAtStart)
        if answer.json {
            try CommandOutput.answer(report.json(problems: problems, commands: commands))
        } else {
            let terminal = Terminal.current(Environment.current)
            try CommandOutput.answer(report.lines.map(terminal.shown).joined(separator: "\n"))
        }
        for problem in problems { CommandOutput.complain(lines: problem) }
    }

    /// Warns of what does not keep 'run' from its work now, and shows the lines that units lack.
    private static func warn(of dryRun: DryRun, _ positions: DiagnosticsOfFailures) {
        for warning in dryRun.orphans.map(\.sentence) + dryRun.warningsOfUnits {
            CommandOutput.complain(lines: "warning: \(warning)")
        }
        for user in dryRun.idleWriters {
            let remedy = Self.remedy(forIdleWriterOf: user)
            let warning = Diagnostic(
                .warning, at: positions.positions.position(ofUser: user),
                "the writer of \(Owner.words(userNamed: user)) does not start after a reboot; \(remedy)")
            CommandOutput.complain(lines: warning.description)
        }
        for argument in dryRun.unguardedArguments {
            let path = Printable.name(argument.path)
            let words =
                "other users can change \(path), an argument of this program: if the program runs that file, they gain the "
                + "daemon's rights; let only root write to it and to the directories above it, or run it with \"start:\""
            let warning = Diagnostic(.warning, at: positions.positions.position(of: argument.action), words)
            CommandOutput.complain(lines: warning.description)
        }
        for failure in dryRun.limitations + dryRun.storeFailures {
            CommandOutput.complain(lines: positions.diagnostic(failure, .warning).description)
        }
        for dropIn in dryRun.dropIns {
            if let command = dropIn.command {
                CommandOutput.complain("this command adds what the sandbox of \(dropIn.unit) lacks:")
                CommandOutput.complain(lines: command.text)
            } else {
                CommandOutput.complain("add these lines with systemctl edit \(dropIn.unit), and restart it:")
                CommandOutput.complain(lines: dropIn.text)
            }
        }
    }

    private static func remedy(forIdleWriterOf user: String) -> Remedy {
        .run(.enable("clientsecretd-writer@\(user).socket"), otherwise: "enable its socket")
    }

    /// The lines that are missing, in the order in which they are printed, each once.
    private static func commands(of dryRun: DryRun, _ positions: DiagnosticsOfFailures) -> [String] {
        let problems = dryRun.problems.sorted {
            positions.diagnostic($0.failure, client: $0.client).position
                < positions.diagnostic($1.failure, client: $1.client).position
        }
        let remedies =
            problems.map(\.failure.remedy) + dryRun.idleWriters.map(remedy)
            + (dryRun.limitations + dryRun.storeFailures).map(\.remedy)
        var seen: Set<String> = []
        return (remedies.map { $0?.command } + dryRun.dropIns.map { $0.command?.text }).compactMap { command in
            command.flatMap { seen.insert($0).inserted ? $0 : nil }
        }
    }
}

/// Failures as lines of `check`.
private struct DiagnosticsOfFailures {
    let positions: FailurePositions
    private let withRemedies: Bool

    /// - Parameter withRemedies: whether they say what helps; what helps one user only is wrong for root.
    init(in loaded: LoadedConfiguration, withRemedies: Bool) {
        positions = FailurePositions(in: loaded)
        self.withRemedies = withRemedies
    }

    func diagnostic(
        _ failure: Failure, _ severity: Diagnostic.Severity = .error, client: ClientName? = nil
    ) -> Diagnostic {
        let diagnostic = positions.diagnostic(failure, severity, client: client)
        return withRemedies ? diagnostic : Diagnostic(severity, at: diagnostic.position, failure.message)
    }
}

extension DryRun {
    /// Whether anything but a problem keeps it from being all in order.
    fileprivate var hasWarnings: Bool {
        !limitations.isEmpty || !storeFailures.isEmpty || !idleWriters.isEmpty || !dropIns.isEmpty || !orphans.isEmpty
            || !warningsOfUnits.isEmpty || !unguardedArguments.isEmpty
    }
}
