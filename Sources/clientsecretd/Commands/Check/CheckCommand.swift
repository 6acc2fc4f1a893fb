import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Rotation

/// `check`: shows the actions of `run`, without carrying them out.
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

    /// - Parameter heading: the text above the report; with it, the report is left out if nothing is missing. Nil: the user asked
    ///   for the report.
    /// - Parameter isLast: whether only the findings of this may be missing.
    func run(after heading: String?, isLast: Bool = true) throws {
        let path = settings.path()
        if fix { try CheckFix.run(flags) }
        if let failure = ServiceUser.missing(for: path) {
            if answer.json {
                let commands = [failure.remedy?.command].compactMap(\.self)
                try CommandOutput.answer(CheckReport.json(problems: [failure.sentence], commands: commands))
            }
            throw CommandFailure(.failed, failure.sentence)
        }
        try Hardening.protectSecrets()
        // Before root becomes the daemon's user, which may not read the application's other files, or see the files that units
        // name. A configuration that is not accepted is reported below.
        var hidden: [HiddenOutput]?
        var inEffect: UnitsInEffect?
        if geteuid() == 0, case .success(let loaded) = ConfigurationSource.ofService(path).load() {
            hidden = HiddenOutputSearch.all(of: loaded.configuration, at: .now)
            inEffect = ServiceUser.unitsInEffect(of: loaded, at: path)
        }
        // Root's check of a user's own configuration refuses it, or judges it as root's.
        let wouldRootAgree = geteuid() == 0 || ServiceUser.isServices(path)
        let unit = try ServiceUser.judge(configuration: path)
        let source = ConfigurationSource.ofCaller(path)
        let result = source.load()
        if case .failure(let error) = result, answer.json {
            try CommandOutput.answer(CheckReport.json(problems: error.diagnostics.map(\.description)))
        }
        let isForeign = ServiceUser.isForeign(to: path)
        if isForeign { CommandOutput.complain(lines: ServiceUser.limits) }
        let loaded = try accepted(result)
        let diagnostics = loaded.warnings + loaded.readabilityWarnings
        for diagnostic in diagnostics {
            CommandOutput.complain(lines: diagnostic.description)
        }
        let dryRun = DryRun(
            of: loaded, from: source, socket: daemon.path(), unit: unit, inEffect: inEffect)
        let findings = dryRun.findings
        let positions = FailurePositions(in: loaded)
        func line(_ failure: Failure, _ severity: Diagnostic.Severity, client: ClientName? = nil) -> Diagnostic {
            // A remedy for one user only is wrong for root.
            positions.diagnostic(failure, severity, client: client, withRemedy: !isForeign)
        }
        // Several problems may be one line, whose commands are in the order of the lines.
        let found = findings.problems.map { (failure: $0.failure, line: line($0.failure, .error, client: $0.client)) }
            .sorted { ($0.line.position, $0.line.message) < ($1.line.position, $1.line.message) }
        let problems = Self.unique(found.map { $0.line.description })
        let commands = isForeign ? [] : Self.commands(of: findings, found.map { $0.failure })
        if let heading, !problems.isEmpty { try CommandOutput.answer(heading) }
        if heading == nil || !problems.isEmpty { try show(dryRun, of: loaded, commands, problems) }
        let hiddenOutputs = hidden ?? HiddenOutputSearch.all(of: loaded.configuration, at: .now)
        let warnings =
            hiddenOutputs.map(\.description) + Self.warnings(of: dryRun, positions)
            + (findings.limitations + findings.storeFailures).map { line($0, .warning).description }
            + findings.dropIns.map(Self.words)
        for warning in warnings { CommandOutput.complain(lines: warning) }
        if !isForeign, ServiceUser.isServices(path), source.credentials == nil, unit?.isRunning != true,
            findings.problems.contains(where: { $0.failure.code == .credentialMissing })
        {
            let advice = Remedy.say(
                "start it and check again", see: ShellCommand.daemonUnit.flatMap(ShellCommand.start))
            CommandOutput.complain("credentials are there only while the service runs: \(advice)")
        }
        if !fix, !answer.json, wouldRootAgree, !commands.isEmpty, let command = ShellCommand.checkFix {
            CommandOutput.complain("\(command.text), as root, runs the commands above")
        }
        guard problems.isEmpty else { throw CommandFailure(.failed, "") }
        if isLast, !answer.json, !isForeign, diagnostics.isEmpty, warnings.isEmpty, ProcessLook.shortfall == nil {
            try CommandOutput.answer("Nothing is missing.")
        }
    }

    /// The flags that name the configuration and the socket, as they were given. One with the default would say that the daemon
    /// there is this configuration's (``CommandContext/knowsDaemon``), and `--fix` would run commands that `check` does not print.
    var flags: [String] {
        [("--config", settings.config), ("--socket", daemon.socket)].compactMap { flag, value in
            value.map { "\(flag)=\($0)" }
        }
    }

    /// Shows the actions of 'run', and the obstacles.
    private func show(
        _ dryRun: DryRun, of loaded: LoadedConfiguration, _ commands: [String], _ problems: [String]
    ) throws {
        let report = CheckReport(
            configuration: loaded.configuration, secrets: dryRun.secrets, now: .now,
            pushRequests: loaded.pushRequests, stateDirectoryMadeAtStart: dryRun.findings.stateDirectoryMadeAtStart)
        try answer.show(report.json(problems: problems, commands: commands), or: report.lines)
        for problem in problems { CommandOutput.complain(lines: problem) }
    }

    /// Problems that do not keep 'run' from its work now.
    private static func warnings(of dryRun: DryRun, _ positions: FailurePositions) -> [String] {
        let findings = dryRun.findings
        let ofWriters = findings.idleUnits.compactMap { unit in
            unit.writer.map { Diagnostic(.warning, at: positions.position(ofUser: $0), unit.sentence) }
        }
        let ofUnits = findings.idleUnits.filter { $0.writer == nil }.map(\.sentence)
        let ofKeys = findings.sharedKeys.map { shared in
            Diagnostic(.warning, at: positions.position(ofKey: shared.name), shared.words)
        }
        let ofArguments = findings.unguardedArguments.map { argument in
            Diagnostic(
                .warning, at: positions.position(of: argument.action),
                "other users can change \(Printable.name(argument.path)), an argument of this program: if the program runs "
                    + "that file, they gain the daemon's rights; let only root write to it and to the directories above it, "
                    + "or run it with \"start:\"")
        }
        return (dryRun.orphans.map(\.sentence) + findings.warningsOfUnits + ofUnits).map { "warning: \($0)" }
            + (ofWriters + ofKeys + ofArguments).map(\.description)
    }

    /// The lines that a unit lacks, and how they are added.
    private static func words(of dropIn: UnitDropIn) -> String {
        if let command = dropIn.command {
            "clientsecretd: this command adds what the sandbox of \(dropIn.unit) lacks:\n\(command.text)"
        } else {
            "clientsecretd: add these lines with systemctl edit \(dropIn.unit), and restart it:\n\(dropIn.text)"
        }
    }

    /// The lines that are missing, in the order in which they are printed, each once.
    private static func commands(of findings: DryRunFindings, _ problems: [Failure]) -> [String] {
        let remedies =
            problems.map(\.remedy) + findings.idleUnits.map { $0.remedy }
            + (findings.limitations + findings.storeFailures).map(\.remedy)
        return unique((remedies.map { $0?.command } + findings.dropIns.map { $0.command?.text }).compactMap(\.self))
    }

    private static func unique(_ lines: [String]) -> [String] {
        var seen: Set<String> = []
        return lines.filter { seen.insert($0).inserted }
    }
}
