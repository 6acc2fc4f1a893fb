import Config
import Daemon
import Linux
import Model

/// The place in which `init` writes the configuration.
struct InitPlace {
    /// As it was named.
    let path: String
    let file: AbsolutePath
    /// The existing configuration, if a client is added to it.
    let existing: ExistingConfiguration?

    /// Throws if the configuration exists and no client is added.
    ///
    /// - Parameter name: the client's, if a flag names it.
    init(_ path: String, adding name: ClientName?) throws(CommandFailure) {
        let isPrinted = path == NamedFile.standardInput
        guard let file = ConfigurationLoader.absolutePath(of: isPrinted ? ConfigurationOption.standard : path) else {
            throw CommandFailure(.usage, "--config needs the path of a file")
        }
        self.path = path
        self.file = file
        guard !isPrinted, FileStatus.following(path) != nil else {
            existing = nil
            return
        }
        guard let name else {
            throw CommandFailure(
                .failed,
                "\(path) already exists and was not changed; add a client with --name, or name another file with --config"
            )
        }
        existing = try ExistingConfiguration(path, adding: name)
    }

    /// Whether it is only printed.
    var isPrinted: Bool { path == NamedFile.standardInput }

    var isService: Bool { ServiceUser.isServices(path) }

    /// The file that is written: the configuration, or its drop-in file.
    ///
    /// - Parameter main: the additions to the main file.
    /// - Throws: if it would not be accepted. The errors are printed.
    func file(for new: NewConfigurationFile, _ main: RequiredLines? = nil) throws(CommandFailure) -> RequiredLines {
        let text = new.text(isOfService: isService, isAddition: existing != nil)
        let source = existing?.source(text) ?? SourceFile(name: path, path: file, bytes: Array(text.utf8))
        if case .failure(let error) = existing?.parsed(with: text, main) ?? ConfigurationParser.parse(main: source) {
            for diagnostic in error.diagnostics where diagnostic.severity == .error {
                // No line of a text helps that was never written.
                let isGenerated = diagnostic.position.file == source.name
                CommandOutput.complain(lines: isGenerated ? diagnostic.message : diagnostic.description)
            }
            throw CommandFailure(.configuration, "nothing was written")
        }
        return RequiredLines(path: (existing?.file ?? file).description, lines: text)
    }
}
