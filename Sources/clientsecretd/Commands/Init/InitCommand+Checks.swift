import Failures
import Glibc
import Linux
import Model

// What `init` refuses before it writes anything.
extension InitCommand {
    /// Throws where `--now` cannot start what reads the configuration.
    func checkNow(_ path: String) throws(CommandFailure) {
        guard now else { return }
        guard path == ConfigurationOption.standard else {
            throw CommandFailure(
                .usage,
                "--now is for systemd's service, which reads \(ConfigurationOption.standard); leave out --now or --config"
            )
        }
        guard daemon.path() == SocketOption.standard else {
            throw CommandFailure(
                .usage, "--now is for systemd's service, which listens at \(SocketOption.standard); leave out --socket")
        }
        guard SystemManager.isSystemd else {
            throw CommandFailure(
                .usage, "--now is for systemd's service, and systemd does not run here; leave out --now")
        }
    }

    /// A configuration that was written for a mistyped key would have to be removed before the next try.
    static func checkIsKey(_ file: AbsolutePath) throws(CommandFailure) {
        try NamedKey.check(
            file.description, otherwise: "name Apple's key file with --key; nothing was written")
    }

    static func checkIsReadable(_ file: AbsolutePath, _ advice: String) throws(CommandFailure) {
        guard let errno = FileStatus.problem(accessing: file.description, R_OK) else { return }
        throw CommandFailure(
            .unreadable,
            "\(Printable.name(file.description)) cannot be read: \(errno); \(advice); "
                + "nothing was written")
    }
}
