import Formats
import Model

/// `from`: the place from which a client without a private key receives its secrets.
enum SourceSettings {
    static let names = ["path", "format"] + readable.compactMap { $0.setting?.name }

    static func read(in client: Section) -> Setting<SourceConfiguration> {
        client.section("from", names: names).flatMap { read($0.value) }
    }

    private static func read(_ section: Section) -> Setting<SourceConfiguration> {
        let path = section.needed("path", Scalar.file, "write the file that something else renews")
        let written = WrittenFormat(
            in: section, among: readable, otherwise: "no secret is received as format", isImplied: true)
        guard let path = path.located, let written else { return .wrong }
        return .given(
            Located(
                SourceConfiguration(path: path.value, format: written.format, slot: written.slot), at: path.position))
    }

    /// The formats that a secret is read back from without further settings of the whole file.
    private static var readable: [any OutputFormat.Type] {
        FormatRegistry.all.filter { $0.setting?.scope != .file }
    }
}
