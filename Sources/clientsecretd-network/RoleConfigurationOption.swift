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

    /// The last good configuration, if it was passed to the service; nil means to look for it in root's place.
    var adopted: String? { config == nil ? Self.handed("adopted.json") : nil }

    private static func handed(_ name: String) -> String? {
        CredentialFiles.path(of: name).flatMap { unsafe access($0, F_OK) == 0 ? $0 : nil }
    }
}
