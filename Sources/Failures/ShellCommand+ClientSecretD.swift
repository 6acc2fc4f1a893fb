/// Commands of this program.
extension ShellCommand {
    private static func words(_ flag: String, _ value: String?) -> [String] { value.map { [flag, $0] } ?? [] }

    /// A command to the daemon of this process; nil if its socket is not known.
    private static func asking(_ words: [String], of client: String? = nil) -> ShellCommand? {
        let context = CommandContext.current
        guard context.knowsDaemon else { return nil }
        let socket = Self.words("--socket", context.socket)
        return ShellCommand("clientsecretd \(words + socket + [client].compactMap { $0 })")
    }

    /// - Parameter client: nil: all.
    package static func renew(_ client: String?) -> ShellCommand? { asking(["renew"], of: client) }

    /// Repeats failed notifications.
    ///
    /// - Parameter client: nil: to all.
    package static func deliver(_ client: String?) -> ShellCommand? { asking(["renew", "--deliver-only"], of: client) }

    package static var reload: ShellCommand? { asking(["reload"]) }

    /// Succeeds if the daemon then has a secret of the client, whatever else fails.
    static func reload(for client: String) -> ShellCommand? { asking(["reload"], of: client) }

    package static var status: ShellCommand? { asking(["status"]) }

    package static var statusOfFleet: ShellCommand? { asking(["status", "--fleet"]) }

    package static func resumeRollout(_ client: String) -> ShellCommand? { asking(["rollout", "resume"], of: client) }

    package static func showRollout(_ client: String) -> ShellCommand? { asking(["rollout", "show"], of: client) }

    /// A command about the configuration of this process.
    ///
    /// - Parameter takesSocket: whether the command has the flag `--socket`.
    static func reading(_ words: [String], before: [String] = [], takesSocket: Bool = true) -> ShellCommand? {
        let context = CommandContext.current
        let socket = takesSocket ? context.socket ?? context.decidingSocket : nil
        let flags = Self.words("--config", context.configuration) + Self.words("--socket", socket)
        return ShellCommand("\(before + ["clientsecretd"] + words + flags)")
    }

    package static var check: ShellCommand? { reading(["check"]) }

    /// Writes the first configuration.
    package static var initialize: ShellCommand? { reading(["init"]) }

    package static var doctor: ShellCommand? { reading(["doctor"]) }

    package static var checkFix: ShellCommand? { reading(["check", "--fix"]) }

    /// The same, shown to another user: root must run it.
    package static var checkAsRoot: ShellCommand? { reading(["check"], before: ["sudo"]) }

    /// As root, shown to another user.
    package static var doctorAsRoot: ShellCommand? { reading(["doctor"], before: ["sudo"]) }

    package static var runDaemon: ShellCommand? { reading(["run"]) }

    /// Where the package's service has the default socket.
    package static func runDaemon(at socket: String) -> ShellCommand? {
        reading(["run", "--socket", socket], takesSocket: false)
    }

    /// As root, shown to another user.
    package static func health(offline: Bool) -> ShellCommand? {
        reading(["health"] + (offline ? ["--offline"] : []), before: ["sudo"])
    }
}
