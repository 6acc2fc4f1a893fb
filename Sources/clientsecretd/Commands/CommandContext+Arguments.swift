import Config
import Failures
import Linux
import Model

extension CommandContext {
    /// What this command line says, and the environment where it does not.
    init(arguments words: [String], _ environment: [String: String]) {
        func named(_ path: String, unless standard: String) -> String? {
            path == standard || path == NamedFile.standardInput
                ? nil : ConfigurationLoader.absolutePath(of: path)?.description
        }
        let socket = SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment)
        let isThere = FileStatus.following(socket)?.kind == .socket
        self.init(
            configuration: named(
                ConfigurationOption.path(flag: Flags.value(of: "--config", in: words), environment),
                unless: ConfigurationOption.standard),
            socket: named(socket, unless: SocketOption.standard),
            hasSystemd: SystemManager.isSystemd,
            hasDaemon: words.first == "run"
                ? !words.contains("--once")
                : !words.contains("--offline") && isThere,
            lostSocket: Self.asking.contains(words.first ?? "") && !isThere ? FailedSockets.lost(socket) : nil,
            unit: words.first == "run" ? OwnUnit.service(environment) : nil)
    }

    /// The commands that ask the daemon, or check what is in its way.
    private static let asking = ["check", "doctor", "health", "status", "reload", "renew", "rollout", "verify"]
}
