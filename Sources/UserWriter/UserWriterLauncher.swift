import Linux
import SystemPackage

/// How a daemon that runs as root without systemd starts a user writer.
enum UserWriterLauncher {
    /// From util-linux, which is part of every Debian.
    private static let setpriv = "/usr/bin/setpriv"
    /// The kernel's suffix for a program whose file was replaced since it was started, as by an upgrade (proc(5)).
    private static let replaced = " (deleted)"

    /// The program and its arguments: the writer drops root's rights before it begins.
    static func arguments(user: String, configuration: String) throws(SystemError) -> [String] {
        guard let id = try Accounts.userID(user) else {
            throw SystemError("find the user \(user)", errno: .invalidArgument)
        }
        let account = try Accounts.user(id: id)
        // A user id without an account, as in a container: its group has the same id, and it is in no other.
        let groups = account == nil ? "--clear-groups" : "--init-groups"
        return [
            setpriv, "--reuid=\(id)", "--regid=\(account?.primaryGroup ?? id)", groups, "--no-new-privs",
            "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--", try program(), "write",
            "--config", configuration,
        ]
    }

    private static func program() throws(SystemError) -> String {
        guard let path = OwnProgram.path() else {
            throw SystemError("find the program that runs", errno: .noSuchFileOrDirectory)
        }
        return path.hasSuffix(replaced) ? String(path.dropLast(replaced.count)) : path
    }
}
