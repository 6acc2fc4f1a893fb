import Config
import Daemon
import Linux
import Model

/// Warnings about what hides outputs from the programs that are to read them.
enum HidingWarnings {
    /// Those about the outputs of a configuration; none where it is not accepted, which other messages say.
    static func found(byConfiguration path: String) -> [HiddenOutput] {
        let source = ConfigurationSource.ofService(path)
        guard case .success(let loaded) = source.load() else { return [] }
        return HiddenOutputs.all(of: loaded.configuration, at: .now)
    }

    static func show(_ warnings: [HiddenOutput]) {
        for warning in warnings { CommandOutput.complain(lines: warning.description) }
    }
}
