import ArgumentParser
import Daemon
import Glibc
import Linux

/// `keep-configuration`: run as root before each start of the service.
struct KeepConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep-configuration",
        abstract: "Save the last good configuration for a start with a refused one.",
        discussion: """
            clientsecretd.service runs it before each start, as root. It saves a configuration that the daemon would \
            accept in /var/lib/clientsecretd-adopted. A refused one leaves the saved copy unchanged.
            """,
        shouldDisplay: false)

    @OptionGroup var settings: ConfigurationOption

    @Option(help: .value("user", "The user that the daemon runs as (default: that of its unit)."))
    var daemonUser: String?

    func run() throws {
        guard geteuid() == 0 else {
            throw CommandFailure(.notPermitted, "only root can save the service's configuration")
        }
        do {
            // It checks with the rights of another user, which must not inspect this process.
            try Hardening.forbidInspection()
            try ConfigurationSource.keepAsRoot(
                path: settings.path(), environment: OwnEnvironment.current,
                daemonUser: daemonUser, isUpdate: false)
        } catch {
            throw CommandFailure(.failed, "could not save the fallback copy of the configuration: \(error)")
        }
    }
}
