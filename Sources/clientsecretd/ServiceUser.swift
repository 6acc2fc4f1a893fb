import Glibc
import Linux

/// Whom the package's unit runs the daemon as.
enum ServiceUser {
    static let name = "clientsecretd"

    /// Has root, who may do everything, judge the service's own configuration with the rights of the user that has to
    /// work with it: this process is that user's from then on. Any other configuration is for whoever runs the command.
    static func judge(configuration: String) throws(SystemError) {
        // sd_booted(3)
        guard geteuid() == 0, configuration == ConfigurationOption.standard,
            unsafe access("/run/systemd/system", F_OK) == 0, let account = try Accounts.user(named: name)
        else { return }
        try Hardening.become(account)
    }
}
