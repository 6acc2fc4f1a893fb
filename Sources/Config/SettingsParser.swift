package import Rotation

/// Parses a configuration's text into its values, or a list of all its mistakes. Reads nothing outside the text.
package enum SettingsParser {
    /// - Parameters:
    ///   - main: the configuration file.
    ///   - additions: the files of its `.d` directory, in name order.
    ///   - stateDirectory: the first directory of `$STATE_DIRECTORY`, where that is set: outputs in it are refused.
    package static func parse(
        main: SourceFile, additions: [SourceFile] = [], stateDirectory: AbsolutePath? = nil
    ) -> Result<Loaded, Refusal> {
        parse(main: main, additions: additions, stateDirectory: stateDirectory, complaints: Diagnostics())
    }

    /// The same, adding to complaints from before the text was read.
    static func parse(
        main: SourceFile, additions: [SourceFile], stateDirectory: AbsolutePath?, complaints: Diagnostics
    ) -> Result<Loaded, Refusal> {
        let directory = Self.directory(of: main.path)
        let files = [main] + additions
        // The content of a file that cannot be read to its end is unknown: then how the files fit together is not
        // checked.
        var unreadable = complaints.errors > 0
        var drafts: [FileDraft] = []
        for file in files {
            let isMain = drafts.isEmpty
            let before = complaints.errors
            guard let root = YAMLReader.read(file.bytes, file: file.name, complaints: complaints), !root.isNothing
            else {
                if complaints.errors > before {
                    unreadable = true
                } else if isMain {
                    complaints.error(
                        at: Position(file: file.name, line: 1, column: 1),
                        "the file is empty; write keys and clients, or make one with \"clientsecretd init\"")
                    unreadable = true
                }
                drafts.append(FileDraft())
                continue
            }
            drafts.append(DocumentReader(complaints: complaints, main: isMain ? nil : main.name).read(root))
        }
        if !unreadable {
            var assembler = Assembler(
                start: Position(file: main.name, line: 1, column: 1), drafts: drafts, complaints: complaints)
            let configuration = assembler.assemble(
                guarding: GuardedPlaces(
                    files: files.flatMap { [$0.path, $0.realPath] }, directory: directory,
                    stateDirectory: stateDirectory))
            if complaints.errors == 0 {
                return .success(
                    loaded(configuration, assembler.positions, complaints.sorted(main: main.name), files, directory))
            }
        }
        return .failure(Refusal(diagnostics: complaints.sorted(main: main.name)))
    }

    /// The directory that is named like the file, with `.d` for `.yaml`.
    package static func directory(of main: AbsolutePath) -> AbsolutePath {
        let text = main.description
        let stem = [".yaml", ".yml"].first { text.hasSuffix($0) && main.name != $0 }.map { text.dropLast($0.count) }
        // Nil only for a name of nearly 255 bytes, without room for ".d".
        return AbsolutePath((stem ?? text[...]) + ".d") ?? main
    }

    private static func loaded(
        _ configuration: Configuration, _ positions: Positions, _ warnings: [Diagnostic], _ files: [SourceFile],
        _ directory: AbsolutePath
    ) -> Loaded {
        let notActedOn = Feature.list(in: configuration).map {
            Diagnostic(.warning, at: positions[$0.subject] ?? positions.start, $0.message)
        }
        return Loaded(
            configuration: configuration, warnings: warnings, notActedOn: notActedOn, positions: positions,
            sources: files, directory: directory)
    }
}

extension YAMLNode {
    /// Whether it is empty, as `---` alone is.
    fileprivate var isNothing: Bool {
        if case .scalar("") = content { true } else { false }
    }
}
