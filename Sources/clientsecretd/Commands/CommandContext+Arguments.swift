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
        self.init(
            configuration: named(
                ConfigurationOption.path(flag: Flags.value(of: "--config", in: words), environment),
                unless: ConfigurationOption.standard),
            socket: named(
                SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment),
                unless: SocketOption.standard),
            hasSystemd: SystemManager.isSystemd,
            hasDaemon: words.first == "run"
                ? !words.contains("--once")
                : !words.contains("--offline")
                    && FileStatus.following(
                        SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment))?.kind == .socket
        )
    }
}
