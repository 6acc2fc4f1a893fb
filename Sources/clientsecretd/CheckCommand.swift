import ArgumentParser
import Daemon
import Linux
import Rotation
import Settings

/// `check`: what `run` would do, without doing it.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the configuration and every key, touch nothing, say what 'run' would do.",
        discussion: """
            Exits 78 when the configuration's text is not accepted and 1 when something in it could not work. What the \
            user may do who runs it is what counts; root judges the service's configuration as the service's user.
            """)

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let path = settings.path(Environment.current)
        do {
            try ServiceUser.judge(configuration: path)
        } catch {
            throw Failure(.failed, error.description)
        }
        let source = SettingsSource(path: path, environment: ServiceUser.environment(for: path))
        let loaded = try accepted(source.load())
        for diagnostic in loaded.warnings + loaded.notActedOn { Streams.complain(lines: diagnostic.description) }
        do {
            // Before the keys are read: no core dump, no look by another process of the same user.
            try Hardening.forbidInspection()
        } catch {
            throw Failure(.failed, error.description)
        }
        let forecast = Forecast(of: loaded, from: source, socket: daemon.path(Environment.current))
        let report = ForecastReport(configuration: loaded.configuration, secrets: forecast.secrets, now: .now)
        let problems = forecast.problems.map {
            loaded.positions.diagnostic($0.trouble, client: $0.client).description
        }
        if answer.json {
            try Streams.answer(report.json(problems: problems))
        } else {
            let terminal = Terminal.current(Environment.current)
            try Streams.answer(report.lines.map(terminal.shown).joined(separator: "\n"))
        }
        for problem in problems { Streams.complain(lines: problem) }
        if source.credentials == nil, forecast.problems.contains(where: { $0.trouble.code == .credentialMissing }) {
            Streams.complain(
                "credentials are there only while the service runs: start it and check again (systemctl start clientsecretd)"
            )
        }
        if !problems.isEmpty { throw Failure(.failed, "") }
    }
}
