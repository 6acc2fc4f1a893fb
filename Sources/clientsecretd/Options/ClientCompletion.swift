import ArgumentParser
import Config
import Daemon
import Model

extension CompletionKind {
    /// The names of the configured clients, which a shell uses to complete a command line.
    static var configuredClients: CompletionKind {
        .custom { words, _, _ in ClientCompletion.known(to: words) }
    }
}

enum ClientCompletion {
    /// The clients of the configuration that `--config` in `words` names, or of the default one. Empty if it cannot
    /// be read: a completion never reports errors.
    static func known(to words: [String]) -> [String] {
        let path = ConfigurationOption.path(flag: Flags.value(of: "--config", in: words))
        let source = ConfigurationSource(path: path, environment: ProcessEnvironment.current)
        guard case .success(let loaded) = source.load() else { return [] }
        return loaded.configuration.clients.keys.sorted().map(\.description)
    }
}
