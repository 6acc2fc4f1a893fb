internal import FoundationEssentials
package import Linux
package import Rotation

/// The text of a configuration as it was last adopted, kept for a start whose text is refused or missing.
///
///     {"version": 1, "configuration": "/etc/clientsecretd/clientsecretd.yaml", "text": "keys:…",
///      "additions": [{"name": "web.yaml", "text": "clients:…"}]}
///
/// One file for each configuration's path, so that all of its text is replaced at once.
package struct AdoptedText: Hashable, Codable, Sendable {
    private var version = 1
    private let configuration: String
    private let text: String
    private let additions: [Addition]

    private struct Addition: Hashable, Codable, Sendable {
        let name: String
        let text: String
    }

    /// Root's, which writers read too; what it holds decides as whose user files are written, so that nobody else may
    /// write there.
    package static let directory = "/var/lib/clientsecretd-adopted"

    /// Many times what ten thousand clients need.
    private static let sizeLimit = 32 << 20

    /// What was read from files that passed.
    package init(of loaded: Loaded) {
        let sources = loaded.sources.map { ($0.path, String(decoding: $0.bytes, as: UTF8.self)) }
        configuration = sources[0].0.description
        text = sources[0].1
        additions = sources.dropFirst().map { Addition(name: $0.0.name, text: $0.1) }
    }

    // MARK: Reading

    /// The configuration of which `directory` has a copy, judged like one that was read from its own files; nil when there
    /// is no copy, or none that passes.
    ///
    /// - Parameters:
    ///   - path: of the configuration, as the user wrote it.
    ///   - identity: whose copy is believed, besides root's.
    package static func load(
        path: String, in directory: String, as identity: Identity, stateDirectory: AbsolutePath? = nil
    ) -> Loaded? {
        guard let main = SettingsLoader.absolutePath(of: path),
            let content = try? TrustedFile.read(
                file(of: main, in: directory), for: .configuration, as: identity, limit: sizeLimit),
            let kept = try? JSONDecoder().decode(AdoptedText.self, from: Data(content.bytes)), kept.version == 1,
            kept.configuration == main.description, let sources = kept.sources(main, path)
        else { return nil }
        return try? SettingsLoader.judge(
            sources, as: identity, stateDirectory: stateDirectory, complaints: Diagnostics()
        ).get()
    }

    private func sources(_ main: AbsolutePath, _ name: String) -> [SourceFile]? {
        let directory = SettingsParser.directory(of: main)
        let shown = SettingsLoader.shownDirectory(of: main, name: name)
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

    // MARK: Keeping

    /// Keeps the text in `directory`, which is made where it is missing; durable when it returns.
    ///
    /// - Parameters:
    ///   - mode: who may read it.
    ///   - group: nil: as the directory gives it.
    package func keep(
        in directory: String, as identity: Identity, mode: UInt16, group: UInt32? = nil
    ) throws(FileError) {
        try GuardedPath.makeDirectory(directory, mode: identity.user == 0 ? 0o755 : 0o700, as: identity)
        guard let main = AbsolutePath(configuration), let encoded = try? Self.encoder.encode(self) else { return }
        // What was left by one that was killed while it wrote: nobody else writes here.
        let naming = try TemporaryNames()
        let path = Self.file(of: main, in: directory)
        try naming.sweep(beside: path, as: identity, ofAnyTag: true)
        let file = try AtomicFile(path, as: identity, limit: Self.sizeLimit)
        let bytes = Array(encoded)
        if let there = file.content, there.bytes == bytes, there.status.mode == mode,
            group == nil || there.status.group == group
        {
            return
        }
        try file.replace(with: bytes, mode: mode, group: group, naming: naming)
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The copy's path: the configuration's, escaped as systemd-escape(1) escapes paths, so that people find it.
    static func file(of main: AbsolutePath, in directory: String) -> String {
        var name = ""
        for byte in main.description.utf8.dropFirst() {
            switch byte {
            case UInt8(ascii: "/"): name += "-"
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                name += byte == UInt8(ascii: ".") && name.isEmpty ? "\\x2e" : String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16)
                name += "\\x" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return directory + "/" + name + ".json"
    }
}

extension Loaded {
    /// Whether everybody may read the files it was read from.
    package var isReadableByAll: Bool {
        sources.allSatisfy { source in
            FileStatus.following(source.realPath.description).map { $0.mode & 0o004 != 0 } == true
                && source.realPath.directories.allSatisfy {
                    FileStatus.following($0.description).map { $0.mode & 0o001 != 0 } == true
                }
        }
    }
}
