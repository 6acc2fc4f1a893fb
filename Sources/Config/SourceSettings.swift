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
        let written = WrittenFormat(in: section, among: readable, otherwise: "no secret is received as format")
        if written.format.isWrong || written.settings.contains(where: { $0.value.isWrong }) { return .wrong }
        let given = written.settings.filter { !$0.value.isAbsent }
        let named: any OutputFormat.Type = written.format.value ?? given.first?.format ?? FormatRegistry.standard
        if let other = given.first(where: { $0.format.name != named.name }) {
            section.diagnostics.error(
                at: other.value.position ?? section.position,
                "format \(named.name) has no \(other.setting.name); remove one of the lines")
            return .wrong
        }
        if let setting = named.setting, given.isEmpty {
            section.diagnostics.error(
                at: written.format.position ?? section.position,
                "format \(named.name) needs a \"\(setting.name)\"; write the one that holds the secret")
            return .wrong
        }
        guard let path = path.located else { return .wrong }
        return .given(
            Located(
                SourceConfiguration(
                    path: path.value,
                    format: FileFormat(name: named.name, isShared: named.isShared),
                    slot: FileSlot(variable: given.first?.value.value)),
                at: path.position))
    }

    /// The formats that a secret is read back from without further settings of the whole file.
    private static var readable: [any OutputFormat.Type] {
        FormatRegistry.all.filter { $0.setting?.scope != .file }
    }
}
