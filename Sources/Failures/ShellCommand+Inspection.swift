/// Commands that only show something, but for ``raiseInotifyLimits``.
extension ShellCommand {
    package static func list(_ path: String) -> ShellCommand? { ShellCommand("ls -ld \(path)") }

    /// The kind and the owner of each name on the way to `path`.
    package static func listWay(to path: String) -> ShellCommand? { ShellCommand("namei -l \(path)") }

    package static func showAccessList(of path: String) -> ShellCommand? { ShellCommand("getfacl \(path)") }

    /// The free bytes and the free inodes: either may be used up.
    package static func showSpace(in directory: String) -> ShellCommand? {
        ShellCommand("df -h --output \(directory)")
    }

    package static func watch(_ directory: String) -> ShellCommand? { ShellCommand("inotifywait -m \(directory)") }

    /// Lists the processes that have a file open.
    static func openers(of file: String) -> ShellCommand? { ShellCommand("fuser -v \(file)") }

    /// Asks Apple about a client's published secret.
    package static func verify(_ client: String) -> ShellCommand? { reading(["verify", client], takesSocket: false) }

    package static func inspect(_ file: String) -> ShellCommand? { ShellCommand("clientsecretd inspect \(file)") }

    static func tryKey(_ file: String) -> ShellCommand? { ShellCommand("openssl pkey -in \(file) -noout") }

    package static func journal(of unit: String) -> ShellCommand? {
        CommandContext.current.hasSystemd ? ShellCommand("journalctl -u \(unit)") : nil
    }

    package static var daemonsJournal: ShellCommand? {
        let suffix = ".service"
        return daemonUnit.flatMap { .journal(of: $0.hasSuffix(suffix) ? String($0.dropLast(suffix.count)) : $0) }
    }

    package static func status(of unit: String) -> ShellCommand? { unitLook("status", unit) }

    package static func dependencies(of unit: String) -> ShellCommand? { unitLook("list-dependencies", unit) }

    package static func cat(_ unit: String) -> ShellCommand? { unitLook("cat", unit) }

    package static let listUnits = ShellCommand(constant: "systemctl list-unit-files")
    /// Only ever raises it.
    static let raiseInotifyLimits = ShellCommand(
        constant: """
            for limit in max_user_instances max_user_watches; do \
            sysctl -w fs.inotify.$limit=$((2 * $(sysctl -n fs.inotify.$limit))); done
            """)
    static let kernelLog = ShellCommand(constant: "dmesg")
    package static let clock = ShellCommand(constant: "timedatectl")
    static let reachApple = ShellCommand(constant: "curl -sS -o /dev/null https://appleid.apple.com/auth/keys")
    static let storeAlarms = ShellCommand(constant: "etcdctl alarm list")
    static let storeMembers = ShellCommand(constant: "etcdctl endpoint status --cluster")

    /// Shows whether a server answers at all.
    package static func reach(_ address: String) -> ShellCommand? {
        ShellCommand("curl -sS -o /dev/null \(address)")
    }

    private static func unitLook(_ verb: String, _ name: String) -> ShellCommand? {
        guard CommandContext.current.hasSystemd, !name.hasPrefix("-") else { return nil }
        return ShellCommand("systemctl \(verb) \(name)")
    }
}
