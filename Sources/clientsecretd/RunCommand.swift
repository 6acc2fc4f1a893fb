import ArgumentParser
import Daemon
import Glibc

/// `run`: the daemon.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the daemon in the foreground.",
        discussion: "SIGTERM ends it, SIGHUP makes it read its configuration again.")

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption

    @Flag(help: "Bring every output up to date and exit: for cron and init containers.")
    var once = false

    func run() throws {
        let environment = Environment.current
        let ending = DaemonRun(
            configuration: settings.path(environment), socket: daemon.path(environment), once: once,
            environment: environment
        ).run()
        Glibc.exit(ending.rawValue)
    }
}
