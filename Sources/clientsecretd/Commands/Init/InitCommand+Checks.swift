import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import SystemPackage
import Systemd

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
        guard daemon.path(Environment.current) == SocketOption.standard else {
            throw CommandFailure(
                .usage, "--now is for systemd's service, which listens at \(SocketOption.standard); leave out --socket")
        }
        guard SystemManager.isSystemd else {
            throw CommandFailure(
                .usage, "--now is for systemd's service, and systemd does not run here; leave out --now")
        }
    }

    /// Throws where the user who is to write a file may not write to its directory: the daemon would fail, with everything
    /// written.
    static func checkIsWritable(
        _ file: NewClient.OutputFile, isOfService: Bool
    ) throws(CommandFailure) {
        let directory = file.path.directory.description
        let user = file.user ?? (isOfService ? ServiceUnit.daemonUser : nil)
        guard geteuid() == 0, let user, let account = (try? Accounts.user(called: user)).flatMap({ $0 }),
            account.id != 0, let status = FileStatus.following(directory)
        else { return }
        let mayWrite = try? ActingUser.perform(as: account) {
            unsafe faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 || errno != EACCES
        }
        guard mayWrite == false else { return }
        let owner = (try? Accounts.user(id: status.owner)).flatMap { $0 }?.name ?? String(status.owner)
        throw CommandFailure(
            .failed,
            "\(Owner.words(userNamed: user)) cannot write to \(Printable.name(directory)) (owner: \(owner)). Use --output with another "
                + "directory; nothing was written.")
    }

    /// A configuration that was written for a mistyped key would have to be removed before the next try.
    static func checkIsKey(_ file: AbsolutePath) throws(CommandFailure) {
        do throws(CommandFailure) { try NamedKey.check(file.description) } catch {
            throw CommandFailure(error.code, "\(error.message); name Apple's key file with --key; nothing was written")
        }
    }

    static func checkIsReadable(_ file: AbsolutePath, _ advice: String) throws(CommandFailure) {
        guard let errno = FileStatus.problem(accessing: file.description, R_OK) else { return }
        throw CommandFailure(
            .unreadable,
            "\(Printable.name(file.description)) cannot be read: \(CommandOutput.text(ofErrno: errno.rawValue)); \(advice); "
                + "nothing was written")
    }

    static func existing(_ path: String) -> CommandFailure {
        CommandFailure(
            .failed,
            "\(path) already exists and was not changed; add a client with --name, or name another file with --config"
        )
    }
}
