import Config
import Daemon
import Glibc
import Linux
import Rotation

/// Whom the package's unit runs the daemon as, and what it has there.
enum ServiceUser {
    static let name = "clientsecretd"

    /// Has root, who may do everything, judge the service's own configuration with the rights of the user that has to
    /// work with it: this process is that user's from then on. Any other configuration is for whoever runs the command.
    ///
    /// Returns the unit that the user's rights are narrowed by; nil where systemd cannot be asked, or for anybody else.
    static func judge(configuration: String) throws(SystemError) -> ServiceUnit? {
        guard isServices(configuration), let account = try Accounts.user(named: name),
            geteuid() == 0 || geteuid() == account.id
        else { return nil }
        // Root needs no message bus to ask.
        let unit = ServiceUnit.ofDaemon()
        if geteuid() == 0 { try Hardening.become(account) }
        return unit
    }

    /// Whether somebody else than root or the service's user asks about the service's configuration.
    static func isForeign(to configuration: String) -> Bool {
        guard geteuid() != 0, isServices(configuration), let account = (try? Accounts.user(named: name)).flatMap({ $0 })
        else { return false }
        return geteuid() != account.id
    }

    /// Has root, who runs the daemon by hand on the configuration of the service, do so as the service's user, whose the
    /// state directory is: what root made there or took for itself, the service could not use any more.
    static func run(configuration: String, _ environment: [String: String]) throws(SystemError) {
        // systemd has been told in the unit whom to start it as (systemd.exec(5)).
        guard geteuid() == 0, isServices(configuration), environment["SYSTEMD_EXEC_PID"] != String(getpid()),
            let account = try Accounts.user(named: name)
        else { return }
        let source = SettingsSource(path: configuration, environment: environment, as: identity)
        guard case .success(let loaded) = source.load(),
            let state = source.stateDirectory(of: loaded.configuration),
            FileStatus.following(state.description)?.owner == account.id
        else { return }
        try Hardening.become(account)
    }

    /// Whoever runs the command: root in the stead of the service's user, so that a key which is guarded for that user is
    /// not called unguarded.
    static var identity: Identity {
        // Where the database cannot be asked root is nobody but root.
        Identity.current().acting(for: try? Accounts.user(named: name))
    }

    /// The variables of whoever runs the command and, for the service's own configuration, the credentials that systemd
    /// has laid out for the service (systemd.exec(5), `LoadCredential=`), which are there while it runs.
    static func environment(for configuration: String) -> [String: String] {
        let own = Environment.current
        guard own["CREDENTIALS_DIRECTORY"] == nil, isServices(configuration),
            unsafe access(credentials, X_OK) == 0
        else { return own }
        return own.merging(["CREDENTIALS_DIRECTORY": credentials]) { _, new in new }
    }

    private static let credentials = "/run/credentials/clientsecretd.service"

    /// Whether this is the configuration of the package's unit, on a machine with systemd (sd_booted(3)).
    private static func isServices(_ configuration: String) -> Bool {
        let isSystemd = unsafe access("/run/systemd/system", F_OK) == 0
        return isSystemd && configuration == ConfigurationOption.standard
    }
}
