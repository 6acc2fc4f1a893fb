import ArgumentParser
import Config
import Glibc

/// Which configuration a role reads.
struct RoleConfigurationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration; otherwise the credential clientsecretd.yaml, or \(ConfigurationLoader.defaultPath).",
            valueName: "file"),
        completion: .file())
    var config: String?

    var path: String { config ?? Self.handed("clientsecretd.yaml") ?? ConfigurationLoader.defaultPath }

    /// The text that the daemon has last adopted, where the service was handed it; nil to look for it where root keeps it.
    var adopted: String? { config == nil ? Self.handed("adopted.json") : nil }

    private static func handed(_ name: String) -> String? {
        CredentialFiles.path(of: name).flatMap { unsafe access($0, F_OK) == 0 ? $0 : nil }
    }
}
