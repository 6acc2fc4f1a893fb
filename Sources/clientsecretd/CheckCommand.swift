import ArgumentParser
import Daemon
import Rotation
import Settings

/// `check`: what `run` would do, without doing it.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the configuration and every key, touch nothing, say what 'run' would do.",
        discussion: """
            Exits 78 when the configuration's text is not accepted and 1 when something in it could not work. Run it as \
            the daemon's user to learn what that user may do.
            """)

    @OptionGroup var settings: ConfigurationOption

    func run() throws {
        let source = SettingsSource(path: settings.path(Environment.current), environment: Environment.current)
        let loaded = try accepted(source.load())
        for diagnostic in loaded.warnings + loaded.notActedOn { Streams.complain(lines: diagnostic.description) }
        let forecast = Forecast(of: loaded.configuration, from: source)
        let report = ForecastReport(configuration: loaded.configuration, secrets: forecast.secrets, now: .now)
        let terminal = Terminal.current(Environment.current)
        try Streams.answer(report.lines.map(terminal.shown).joined(separator: "\n"))
        guard forecast.problems.isEmpty else {
            for problem in forecast.problems {
                let diagnostic = loaded.positions.diagnostic(problem.trouble, client: problem.client)
                Streams.complain(lines: diagnostic.description)
            }
            throw Failure(.failed, "")
        }
    }
}
