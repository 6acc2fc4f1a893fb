package import AppleClientSecret
internal import Failures
package import Linux
package import Model

/// The configuration text last adopted, kept for a start at which the current text is refused or missing.
///
///     {"version": 1, "configuration": "/etc/clientsecretd/clientsecretd.yaml", "text": "keys:…",
///      "additions": [{"name": "web.yaml", "text": "clients:…"}]}
///
/// One file per configuration path, so that main text and additions are replaced together.
package struct LastGoodConfiguration: Hashable, Sendable {
    private let configuration: String
    private let text: String
    private let additions: [Addition]

    fileprivate struct Addition: Hashable, Sendable {
        let name: String
        let text: String
    }

    /// Belongs to root and is read by user writers too. Only root may write to it, because its content decides as which
    /// users files are written.
    package static let directory = "/var/lib/clientsecretd-adopted"

    /// In bytes: many times the size of ten thousand clients.
    private static let sizeLimit = 32 << 20
    /// How often a copy is written that another process replaces at the same time.
    private static let tries = 5

    /// The text of files that passed all checks.
    package init(of loaded: LoadedConfiguration) {
        let sources = loaded.sources.map { ($0.path, String(decoding: $0.bytes, as: UTF8.self)) }
        configuration = sources[0].0.description
        text = sources[0].1
        additions = sources.dropFirst().map { Addition(name: $0.0.name, text: $0.1) }
    }

    // MARK: Reading

    /// The configuration copied to `directory`, checked like one read from its own files; nil when there is no copy or
    /// it does not pass.
    ///
    /// - Parameters:
    ///   - path: the configuration's, as the user wrote it.
    ///   - identity: the user that may own the copy, as root may.
    package static func load(
        path: String, in directory: String, as identity: Identity, stateDirectory: AbsolutePath? = nil
    ) -> LoadedConfiguration? {
        guard let main = ConfigurationLoader.absolutePath(of: path),
            let kept = read(file(of: main, in: directory), as: identity),
            kept.configuration == main.description, let sources = kept.sources(main, path)
        else { return nil }
        return try? ConfigurationLoader.judge(
            sources, as: identity, stateDirectory: stateDirectory, diagnostics: Diagnostics()
        ).get()
    }

    /// The main file's text of the configuration copied to `file`; nil when there is no copy.
    ///
    /// - Parameters:
    ///   - path: the configuration's path, shown in messages.
    ///   - file: the copy that systemd hands to a service, which names the configuration by itself; nil: root's own copy of
    ///     the configuration at `path`.
    static func main(of path: String, in file: String?, as identity: Identity) -> SourceFile? {
        guard let main = ConfigurationLoader.absolutePath(of: path),
            let kept = read(file ?? self.file(of: main, in: directory), as: identity),
            file != nil || kept.configuration == main.description
        else { return nil }
        return SourceFile(name: path, path: main, bytes: Array(kept.text.utf8))
    }

    private static func read(_ file: String, as identity: Identity) -> LastGoodConfiguration? {
        guard
            let content = try? TrustedFile.read(file, for: .configuration, as: identity, limit: sizeLimit)
        else { return nil }
        return try? LastGoodConfiguration(parsing: content.bytes)
    }

    private func sources(_ main: AbsolutePath, _ name: String) -> [SourceFile]? {
        let directory = ConfigurationParser.directory(of: main)
        let shown = ConfigurationLoader.shownDirectory(of: main, name: name)
        var sources = [SourceFile(name: name, path: main, bytes: Array(text.utf8))]
        for addition in additions {
            guard let path = directory.appending(addition.name) else { return nil }
            sources.append(
                SourceFile(name: shown + "/" + addition.name, path: path, bytes: Array(addition.text.utf8)))
        }
        return sources
    }

    /// Whether `directory` has a copy of the configuration at this path.
    package static func isKept(_ main: AbsolutePath, in directory: String) -> Bool {
        !FileStatus.isAbsent(file(of: main, in: directory))
    }

    /// Whether `directory` has a copy of the configuration at this path that this process's user may not read.
    package static func isClosed(_ path: String, in directory: String, as identity: Identity) -> Bool {
        guard let main = ConfigurationLoader.absolutePath(of: path) else { return false }
        do throws(FileError) {
            _ = try TrustedFile.read(
                file(of: main, in: directory), for: .configuration, as: identity, limit: sizeLimit)
            return false
        } catch {
            return error.code == .permissionDenied
        }
    }

    /// Whether the copy in `directory` is of this configuration; nil if there is none that may be read.
    package static func isCopy(of loaded: LoadedConfiguration, in directory: String, as identity: Identity) -> Bool? {
        loaded.files.first.flatMap { read(file(of: $0, in: directory), as: identity) }
            .map { $0 == LastGoodConfiguration(of: loaded) }
    }

    // MARK: Keeping

    /// Saves the text in `directory`, which is created if missing; durable when the call returns.
    ///
    /// - Parameter readers: of the copy. They are those of the configuration's own files; the members of the daemon's group, who can
    ///   read its keys, if no single mode and access list names these users.
    package func keep(in directory: String, as identity: Identity, for readers: FileReaders) throws(FileError) {
        try GuardedPath.makeDirectory(directory, mode: identity.user == 0 ? 0o755 : 0o700, as: identity)
        guard let main = AbsolutePath(configuration) else { return }
        // Removes temporaries of a process killed while writing. Those of one that writes now stay, because it has them locked.
        let naming = TemporaryNames()
        let path = Self.file(of: main, in: directory)
        try naming.sweep(beside: path, as: identity, ofAnyTag: true)
        let bytes = jsonText.bytes + [UInt8(ascii: "\n")]
        for tried in 1... {
            let file = try AtomicFile(path, as: identity, limit: Self.sizeLimit)
            if file.content?.bytes == bytes, file.isReadable(by: readers) { return }
            do throws(FileError) {
                return try file.replace(with: bytes, for: readers, naming: naming)
            } catch {
                // A daemon that runs as root and root's `reload` save the same text at once. The second one finds it there.
                guard error.code == .changedMeanwhile, tried < Self.tries else { throw error }
            }
        }
    }

    /// The copy's path: named after the configuration's, escaped as by systemd-escape(1), so that operators find it.
    static func file(of main: AbsolutePath, in directory: String) -> String {
        var name = ""
        for byte in main.description.utf8.dropFirst() {
            switch byte {
            case UInt8(ascii: "/"): name += "-"
            case _ where byte.isASCIIAlphanumeric || "._:".utf8.contains(byte):
                name += byte == UInt8(ascii: ".") && name.isEmpty ? "\\x2e" : String(UnicodeScalar(byte))
            default: name += "\\x" + Hex.encode(byte)
            }
        }
        return directory + "/" + name + ".json"
    }
}

// Names in a file of earlier versions: never rename one.

extension LastGoodConfiguration: JSONDocument {
    package init(_ adopted: LastGoodConfiguration?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("version", 1)
        configuration = try members("configuration", adopted?.configuration)
        text = try members("text", adopted?.text)
        additions = try members("additions", adopted?.additions)
    }
}

extension LastGoodConfiguration.Addition: JSONDocument {
    init(_ addition: Self?, _ members: inout JSONMembers) throws(JSONError) {
        name = try members("name", addition?.name)
        text = try members("text", addition?.text)
    }
}
