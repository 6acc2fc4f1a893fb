import ArgumentParser

/// The path of the configuration: the flag, else the environment variable, else the packages' path.
struct ConfigurationOption: ParsableArguments {
    static let standard = "/etc/clientsecretd/clientsecretd.yaml"

    @Option(
        name: .long,
        help: .value(
            "file", "The configuration (default: $CLIENTSECRETD_CONFIG, else \(ConfigurationOption.standard))."),
        completion: .file())
    var config: String?

    /// Whether the flag or the environment names it.
    var isNamed: Bool {
        config != nil || OwnEnvironment.chosen(OwnEnvironment.current["CLIENTSECRETD_CONFIG"]) != nil
    }

    func path(_ environment: [String: String] = OwnEnvironment.current) -> String {
        Self.path(flag: config, environment)
    }

    static func path(flag: String?, _ environment: [String: String] = OwnEnvironment.current) -> String {
        flag ?? OwnEnvironment.chosen(environment["CLIENTSECRETD_CONFIG"]) ?? standard
    }

    mutating func validate() throws {
        if config?.isEmpty == true { throw ValidationError("--config needs the path of a file") }
    }
}
