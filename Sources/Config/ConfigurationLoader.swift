internal import Failures
import Glibc
package import Linux
package import Model
package import Push
package import Store

/// Reads a configuration from its files.
package enum ConfigurationLoader {
    package static let defaultPath = "/etc/clientsecretd/clientsecretd.yaml"

    /// The configuration in the file `path` and in the `*.yaml` files, in name order, of the directory named like it
    /// with `.d` for `.yaml`. Only root and `identity` may be able to write to the files and directories above them.
    ///
    /// Blocks on the file system and the account database.
    ///
    /// - Parameters:
    ///   - path: as the user wrote it and diagnostics show it; a relative one starts at the working directory.
    ///   - identity: the user whose configuration it is.
    ///   - stateDirectory: the first directory of `$STATE_DIRECTORY`, if that is set.
    ///   - last: the result of an earlier call, which is returned again if every file still has the same bytes.
    package static func load(
        path: String, as identity: Identity, stateDirectory: AbsolutePath? = nil, after last: LoadedConfiguration? = nil
    ) -> Result<LoadedConfiguration, ConfigurationError> {
        do {
            let absolute = try absolute(path)
            let main = try read(absolute, name: path, as: identity)
            let diagnostics = Diagnostics()
            var unread: UnreadText?
            let additions = dropInFiles(
                of: absolute, name: path, as: identity, diagnostics: diagnostics, unread: &unread)
            if let last, last.sources == [main] + additions, diagnostics.errors == 0 { return .success(last) }
            return judge([main] + additions, as: identity, stateDirectory: stateDirectory, diagnostics: diagnostics)
                .mapError { ConfigurationError(diagnostics: $0.diagnostics, unread: unread) }
        } catch {
            return .failure(refusal(of: path, error))
        }
    }

    /// The refusal of a configuration whose main file cannot be read.
    private static func refusal(of path: String, _ error: ValueError) -> ConfigurationError {
        ConfigurationError(
            diagnostics: [Diagnostic(.error, at: Position(file: path), error.words, remedy: error.remedy)],
            unread: error.unread)
    }

    /// The targets in the file `path`, the only one that may name some; nothing else in it is read. Only root and `identity`
    /// may be able to write to it.
    ///
    /// If the file is missing, or its targets are wrong or not the expected ones, these are the targets of the last good
    /// configuration, provided that they are the expected ones. The daemon uses that text while it refuses the file or has not
    /// loaded it yet, and its pushes must arrive where it means them to. This does not apply if this user may not read the file,
    /// because the daemon may have adopted it since.
    ///
    /// Blocks on the file system.
    ///
    /// - Parameters:
    ///   - adopted: the file with the last good configuration; nil for root's copy of the file at `path`.
    ///   - isExpected: whether the daemon means these targets. If it means neither text's, the file's are returned.
    package static func targets(
        path: String, adopted: String? = nil, as identity: Identity,
        where isExpected: ([PushTarget]) -> Bool = { _ in true }
    ) -> Result<[PushTarget], ConfigurationError> {
        section(of: path, adopted, as: identity, where: isExpected) {
            TopLevelSettings.targets(in: $0).compactMap(\.target)
        }
    }

    /// The store in the file `path`, the only one that may name one, read in the same way; nil if it names none.
    ///
    /// Blocks on the file system.
    package static func store(
        path: String, adopted: String? = nil, as identity: Identity,
        where isExpected: (StoreConfiguration?) -> Bool = { _ in true }
    ) -> Result<StoreConfiguration?, ConfigurationError> {
        section(of: path, adopted, as: identity, where: isExpected) { section in
            var files: [StoreConfiguration.File: Located<AbsolutePath>] = [:]
            return StoreSettings.read(in: section, files: &files).value
        }
    }

    /// The result of `read` for the main file's settings, or for those last adopted.
    private static func section<Value>(
        of path: String, _ adopted: String?, as identity: Identity, where isExpected: (Value) -> Bool,
        _ read: (Section) -> Value
    ) -> Result<Value, ConfigurationError> {
        let current: Result<Value, ConfigurationError>
        do {
            current = section(in: try self.read(try absolute(path), name: path, as: identity), read)
        } catch {
            current = .failure(refusal(of: path, error))
        }
        switch current {
        case .success(let value): if isExpected(value) { return current }
        case .failure(let error): if error.unread == .notPermitted { return current }
        }
        // If neither can be used, the reasons are those of the current file, which an operator has to correct.
        guard let kept = LastGoodConfiguration.main(of: path, in: adopted, as: identity),
            case .success(let value) = section(in: kept, read), isExpected(value)
        else { return current }
        return .success(value)
    }

    private static func section<Value>(
        in file: SourceFile, _ read: (Section) -> Value
    ) -> Result<Value, ConfigurationError> {
        let diagnostics = Diagnostics()
        let start = Position(file: file.name)
        if let root = YAMLReader.read(file.bytes, file: file.name, diagnostics: diagnostics),
            let section = Section(
                root, of: "the configuration", at: start, names: TopLevelSettings.names, diagnostics)
        {
            let value = read(section)
            if diagnostics.errors == 0 { return .success(value) }
        }
        return .failure(ConfigurationError(diagnostics: diagnostics.sorted(main: file.name)))
    }

    /// The configuration in these files: the main one, then the additions. Refuses a `control_group` that can read a key or a
    /// passphrase: its members may request a renewal and no more.
    static func judge(
        _ sources: [SourceFile], as identity: Identity, stateDirectory: AbsolutePath?, diagnostics: Diagnostics
    ) -> Result<LoadedConfiguration, ConfigurationError> {
        let result = ConfigurationParser.parse(
            main: sources[0], additions: Array(sources.dropFirst()), stateDirectory: stateDirectory,
            diagnostics: diagnostics)
        guard case .success(let loaded) = result else { return result }
        // A group that does not exist has no members and is no error here; the daemon reports it.
        guard let name = loaded.configuration.controlGroup, let group = try? Accounts.groupID(name) else {
            return result
        }
        let readable = KeySettings.files(of: loaded.configuration.keys).filter {
            isReadable($0.path, by: group, as: identity)
        }
        guard !readable.isEmpty else { return result }
        let errors = readable.map { path, what in
            Diagnostic(
                .error, at: loaded.located.main.controlGroup.position ?? loaded.located.start,
                "group \"\(name)\" may read \(what), \(path); write another group, or remove that group's permission to read it"
            )
        }
        return .failure(ConfigurationError(diagnostics: errors + loaded.warnings))
    }

    /// False for a file that is missing or not guarded, which is reported as the key's own failure. Uses the rules for
    /// configurations because they, unlike those for keys, let any user read.
    private static func isReadable(_ path: AbsolutePath, by group: UInt32, as identity: Identity) -> Bool {
        guard let status = try? TrustedFile.check(path.description, for: .configuration, as: identity) else {
            return false
        }
        return status.mode & 0o004 != 0 || status.group == group && status.mode & 0o040 != 0
    }

    /// - Parameter isListed: whether its directory has the name, so that a missing file is a link that leads nowhere.
    static func read(
        _ path: AbsolutePath, name: String, as identity: Identity, isListed: Bool = false
    ) throws(ValueError) -> SourceFile {
        do {
            let content = try TrustedFile.read(
                path.description, for: .configuration, as: identity, limit: YAMLReader.maximumSize)
            return SourceFile(name: name, path: path, realPath: AbsolutePath(content.path), bytes: content.bytes)
        } catch {
            if isListed, error.code == .missing || error.code == .directoryMissing {
                throw ValueError("the link leads to no file; restore that file, or remove the link")
            }
            throw problem(error, with: path)
        }
    }

    /// Why the file or directory cannot be read.
    static func problem(_ error: FileError, with path: AbsolutePath) -> ValueError {
        let words: String
        var remedy = error.remedy
        switch error.code {
        case .missing, .directoryMissing:
            words = "there is no such file"
            remedy = .say("name another one with --config, or create this one", run: .initialize)
        case .notGuarded, .untrustedLink:
            let place = Printable.name(error.path)
            words = "other users can change \(place): \(error.detail ?? "it is not guarded")"
        case .fileTooLarge:
            words = YAMLReader.tooLarge
            remedy = nil
        case .permissionDenied:
            words = "\(Owner.words(user: getuid())) may not read \(Printable.name(error.path))"
            remedy = remedy ?? remedyForReader(of: error.path)
        default:
            let place = AbsolutePath(error.path) ?? path
            let failure = Failure(
                error.code, at: .path(place), cause: error.cause, detail: error.detail, remedy: remedy)
            words = failure.message
            remedy = failure.remedy
        }
        return ValueError(words, remedy: remedy, unread: UnreadText(error.code))
    }

    /// For a file or directory that this process's user may not read. A service cannot run as another user.
    private static func remedyForReader(of path: String) -> Remedy {
        let (verb, mode) = FileStatus.forGroup(at: path)
        let isService = OwnUnit.hasStartedProcess || Owner.argument(user: getuid()) == Identity.serviceName
        return .say(
            "let that user \(verb) it, by its group and mode \(mode)"
                + (isService ? "" : ", or run this as a user who may"))
    }

    /// The absolute form of a path from the command line; nil when it is not a usable path.
    package static func absolutePath(of path: String) -> AbsolutePath? {
        try? absolute(path)
    }

    /// `path` itself when absolute, else `path` below the working directory.
    private static func absolute(_ path: String) throws(ValueError) -> AbsolutePath {
        guard !path.hasPrefix("/") else { return try Scalar.file(path) }
        // The kernel returns the working directory without links in it, so a `..` right after it is the parent.
        guard let buffer = unsafe getcwd(nil, 0) else {
            throw ValueError("the working directory is gone; write an absolute path")
        }
        defer { unsafe free(buffer) }
        var directory = unsafe AbsolutePath(String(cString: buffer))
        var rest = path[...]
        while rest == ".." || rest.hasPrefix("../") || rest.hasPrefix("./") {
            if !rest.hasPrefix("./") { directory = directory?.directory }
            rest = rest.drop { $0 == "." }.drop { $0 == "/" }
        }
        guard let directory else {
            throw ValueError("the working directory has no usable name; write an absolute path")
        }
        return try Scalar.file(directory.description + "/" + rest)
    }
}
