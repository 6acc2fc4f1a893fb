import ArgumentParser
import Config
import Failures
import Glibc
import Linux

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

    /// The part that `read` takes from it. If the configuration is refused, this is a failure of this code.
    func part<Value>(
        _ code: FailureCode, _ read: (String, String?, Identity) -> Result<Value, ConfigurationError>
    ) throws(RoleFailure) -> Value {
        switch read(path, adopted, .current()) {
        case .success(let value): return value
        case .failure(let error):
            throw RoleFailure(code, error.headline.map { Printable.clause($0.description) })
        }
    }

    private static func handed(_ name: String) -> String? {
        PassedCredentials.path(of: name).flatMap { unsafe access($0, F_OK) == 0 ? $0 : nil }
    }
}
