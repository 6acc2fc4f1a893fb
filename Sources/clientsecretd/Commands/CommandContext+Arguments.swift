import Config
import Failures
import Linux
import Model

extension CommandContext {
    /// What this command line says, and the environment where it does not.
    init(
        arguments words: [String], _ environment: [String: String], hasSystemd: Bool = SystemManager.isSystemd
    ) {
        /// Nil where a command that does not name it means it.
        func named(_ path: String, unless standard: String, _ variable: String) -> String? {
            let isImplied = path == standard && Environment.chosen(environment[variable]) ?? standard == standard
            return isImplied || path == NamedFile.standardInput
                ? nil : ConfigurationLoader.absolutePath(of: path)?.description
        }
        let socket = SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment)
        let isThere = FileStatus.following(socket)?.kind == .socket
        let file = Flags.value(of: "--config", in: words)
        let isRun = words.first == "run"
        // The default socket is the service's there, which reads the default configuration.
        let knowsDaemon =
            isRun || !hasSystemd || socket != SocketOption.standard
            || file ?? ConfigurationOption.standard == ConfigurationOption.standard
        self.init(
            configuration: named(
                ConfigurationOption.path(flag: file, environment), unless: ConfigurationOption.standard,
                "CLIENTSECRETD_CONFIG"),
            socket: named(socket, unless: SocketOption.standard, "CLIENTSECRETD_SOCKET"),
            hasSystemd: hasSystemd,
            hasDaemon: isRun
                ? !words.contains("--once")
                : !words.contains("--offline") && isThere && knowsDaemon,
            lostSocket: Self.asking.contains(words.first ?? "") && !isThere ? FailedSockets.lost(socket) : nil,
            unit: isRun ? OwnUnit.service(environment) : nil, knowsDaemon: knowsDaemon)
    }

    /// The commands that ask the daemon, or check what is in its way.
    private static let asking = ["check", "doctor", "health", "status", "reload", "renew", "rollout", "verify"]
}
