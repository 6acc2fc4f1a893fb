import ArgumentParser
import Daemon
import Glibc

/// `run`: the daemon.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the daemon in the foreground.",
        discussion: """
            SIGTERM ends it. SIGHUP reloads the configuration. If root runs it with the service's configuration, it \
            continues as the service's user.

            With --once, a push needs no service, and each target has a line on standard output.

            Examples:
              clientsecretd run --config clientsecretd.yaml
              clientsecretd run --once
            """)

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption

    @Flag(help: "Bring every output up to date and exit. Use it in cron and init containers.")
    var once = false

    func run() throws {
        let path = settings.path()
        let environment = try ServiceUser.run(configuration: path)
        var unsaid: CommandFailure?
        let ending = DaemonRun(
            configuration: path, socket: daemon.path(), once: once, environment: environment
        ) { snapshot in
            do throws(CommandFailure) {
                for line in PushReport.lines(of: snapshot) { try CommandOutput.answer(line) }
            } catch {
                unsaid = error
            }
        }.run()
        if let unsaid { CommandOutput.complain(unsaid.message) }
        // Not exit(3): a thread may still be at work, on a disk that does not answer, in libraries that exit(3) takes apart.
        fflush(nil)
        _exit(ending == .done && unsaid != nil ? CommandExitStatus.failed.rawValue : ending.rawValue)
    }
}
