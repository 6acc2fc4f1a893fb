package import Model

/// Parses a configuration's text into its values, or a list of all its errors. Reads nothing outside the text.
package enum ConfigurationParser {
    /// - Parameters:
    ///   - main: the configuration file.
    ///   - additions: the files of its `.d` directory, in name order.
    ///   - stateDirectory: the first directory of `$STATE_DIRECTORY`, if that is set. Outputs in it are refused.
    package static func parse(
        main: SourceFile, additions: [SourceFile] = [], stateDirectory: AbsolutePath? = nil
    ) -> Result<LoadedConfiguration, ConfigurationError> {
        parse(main: main, additions: additions, stateDirectory: stateDirectory, diagnostics: Diagnostics())
    }

    /// The same, adding to diagnostics from before the text was read.
    static func parse(
        main: SourceFile, additions: [SourceFile], stateDirectory: AbsolutePath?, diagnostics: Diagnostics
    ) -> Result<LoadedConfiguration, ConfigurationError> {
        let directory = Self.directory(of: main.path)
        let files = [main] + additions
        // The content of a file that cannot be read to its end is unknown: then how the files fit together is not
        // checked.
        var unreadable = diagnostics.errors > 0
        var settings: [TopLevelSettings] = []
        for file in files {
            let isMain = settings.isEmpty
            let before = diagnostics.errors
            guard let root = YAMLReader.read(file.bytes, file: file.name, diagnostics: diagnostics), !root.isNothing
            else {
                if diagnostics.errors > before {
                    unreadable = true
                } else if isMain {
                    diagnostics.error(
                        at: Position(file: file.name),
                        "the file is empty; write keys and clients, or remove it and create one with 'init'")
                    unreadable = true
                }
                settings.append(TopLevelSettings())
                continue
            }
            settings.append(TopLevelSettings(root, addingTo: isMain ? nil : main.name, diagnostics))
        }
        if !unreadable {
            let start = Position(file: main.name)
            let located = WrittenConfiguration(start: start, files: settings, diagnostics)
            let configuration = located.checked(
                against: ConfigurationPaths(
                    files: files.flatMap { [$0.path, $0.realPath] }, directory: directory,
                    stateDirectory: stateDirectory), diagnostics)
            if diagnostics.errors == 0 {
                return .success(
                    LoadedConfiguration(
                        configuration: configuration, located: located,
                        warnings: diagnostics.sorted(main: main.name), sources: files, directory: directory))
            }
        }
        return .failure(ConfigurationError(diagnostics: diagnostics.sorted(main: main.name)))
    }

    /// The directory that is named like the file, with `.d` for `.yaml`.
    package static func directory(of main: AbsolutePath) -> AbsolutePath {
        let text = main.description
        let stem = [".yaml", ".yml"].first { text.hasSuffix($0) && main.name != $0 }.map { text.dropLast($0.count) }
        // Nil only for a name of nearly 255 bytes, without room for ".d".
        return AbsolutePath((stem ?? text[...]) + ".d") ?? main
    }
}

extension YAMLNode {
    /// Whether it is empty, as a single `---` is.
    fileprivate var isNothing: Bool {
        if case .scalar("") = content { true } else { false }
    }
}
