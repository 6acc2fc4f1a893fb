import Config
import Daemon
import Glibc
import Linux
import Model

/// The user that the package's unit runs the daemon as, with its rights and credentials.
enum ServiceUser {
    static let name = Identity.serviceName

    /// When root, who may do everything, checks the service's own configuration, makes this process for good the
    /// service's user, who has to work with it. Any other configuration is checked as the caller.
    ///
    /// Returns the unit whose sandbox restricts that user; nil where systemd cannot be asked, or for anybody else.
    static func judge(configuration: String) throws(SystemError) -> ServiceUnit? {
        guard isServices(configuration), let account = try Accounts.user(named: name),
            geteuid() == 0 || geteuid() == account.id
        else { return nil }
        // Asked while still root, who needs no message bus for it.
        let unit = ServiceUnit.ofDaemon()
        if geteuid() == 0 { try Hardening.become(account) }
        return unit
    }

    /// Whether a user other than root and the service's user asks about the service's configuration.
    static func isForeign(to configuration: String) -> Bool {
        guard geteuid() != 0, isServices(configuration), let account = (try? Accounts.user(named: name)).flatMap({ $0 })
        else { return false }
        return geteuid() != account.id
    }

    /// When root runs the daemon by hand on the service's configuration, makes this process the service's user, if that
    /// user owns the state directory: what root created or took over there, the service could no longer use.
    static func run(configuration: String, _ environment: [String: String]) throws(SystemError) {
        // systemd starts it as the user that the unit names (systemd.exec(5)).
        guard geteuid() == 0, isServices(configuration), environment["SYSTEMD_EXEC_PID"] != String(getpid()),
            let account = try Accounts.user(named: name)
        else { return }
        let source = ConfigurationSource(path: configuration, environment: environment, as: identity)
        guard case .success(let loaded) = source.load(),
            let state = source.stateDirectory(of: loaded.configuration),
            FileStatus.following(state.description)?.owner == account.id
        else { return }
        try Hardening.become(account)
    }

    /// The user that runs the command. Root acts for the service's user as well, so that a key guarded for that user
    /// does not count as unguarded.
    static var identity: Identity {
        // Where the user database cannot be read, root acts for no other user.
        Identity.current().acting(for: try? Accounts.user(named: name))
    }

    /// This process's environment and, for the service's own configuration, the directory of the credentials that
    /// systemd provides to the service while it runs (systemd.exec(5), `LoadCredential=`).
    static func environment(for configuration: String) -> [String: String] {
        let own = Environment.current
        guard own["CREDENTIALS_DIRECTORY"] == nil, isServices(configuration),
            unsafe access(credentials, X_OK) == 0
        else { return own }
        return own.merging(["CREDENTIALS_DIRECTORY": credentials]) { _, new in new }
    }

    private static let credentials = "/run/credentials/clientsecretd.service"

    /// Whether this is the configuration of the package's unit, on a machine with systemd.
    static func isServices(_ configuration: String) -> Bool {
        SystemManager.isSystemd && configuration == ConfigurationOption.standard
    }
}
