import ArgumentParser
import Config
import Daemon
import Model

extension CompletionKind {
    /// The names of the configured clients, which a shell uses to complete a command line: those of the configuration that
    /// `--config` names, or of the default one. None if it cannot be read: a completion never reports errors.
    static var configuredClients: CompletionKind {
        .custom { words, _, _ in
            let path = ConfigurationOption.path(flag: Flags.value(of: "--config", in: words))
            let source = ConfigurationSource(path: path, environment: OwnEnvironment.current)
            guard case .success(let loaded) = source.load() else { return [] }
            return loaded.configuration.clients.keys.sorted().map(\.description)
        }
    }
}
