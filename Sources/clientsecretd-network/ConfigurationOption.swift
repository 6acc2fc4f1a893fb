import ArgumentParser
import Config
import Glibc

/// Which configuration a role reads.
struct ConfigurationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration; otherwise the credential clientsecretd.yaml, or \(ConfigurationLoader.defaultPath).",
            valueName: "file"),
        completion: .file())
    var config: String?

    var path: String {
        let handed = CredentialFiles.path(of: "clientsecretd.yaml")
        let isHanded = handed.map { unsafe access($0, F_OK) == 0 } ?? false
        return config ?? (isHanded ? handed : nil) ?? ConfigurationLoader.defaultPath
    }
}
