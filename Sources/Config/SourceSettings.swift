import Formats
import Model

/// `from`: where a client without a private key receives its secrets.
enum SourceSettings {
    static let names = ["path", "format"] + readable.compactMap { $0.setting?.name }

    static func read(in client: Section) -> Setting<SourceConfiguration> {
        guard let (node, position) = client.node("from") else { return client.missing("from") }
        let diagnostics = client.diagnostics
        guard let section = Section(node, of: "\"from\"", at: position, names: names, diagnostics) else {
            return .wrong
        }
        let path = section.value("path", Scalar.file)
        if path.isAbsent {
            diagnostics.error(
                at: position, "\"from\" has no \"path\"; write the file that something else renews")
        }
        let format = section.value("format") { text throws(Mistake) -> any OutputFormat.Type in
            if let format = readable.first(where: { $0.name == text }) { return format }
            let names = readable.map { $0.name }
            throw Mistake(
                "no secret is received as format\(apposition(text)); \(advice(for: text, among: names, otherwise: names))"
            )
        }
        let places = readable.compactMap { type in
            type.setting.map { setting in
                let value = section.value(setting.name) { text throws(Mistake) in
                    if let mistake = setting.check(text, quoted) { throw Mistake(mistake) }
                    return text
                }
                return (format: type, name: setting.name, value: value)
            }
        }
        if case .wrong = format { return .wrong }
        for place in places { if case .wrong = place.value { return .wrong } }
        let given = places.filter { !$0.value.isAbsent }
        let named: any OutputFormat.Type = format.value ?? given.first?.format ?? FormatRegistry.standard
        if let other = given.first(where: { $0.format.name != named.name }) {
            diagnostics.error(
                at: other.value.position ?? position,
                "format \(named.name) has no \(other.name); remove one of the lines")
            return .wrong
        }
        if let setting = named.setting, given.isEmpty {
            diagnostics.error(
                at: format.position ?? position,
                "format \(named.name) needs a \"\(setting.name)\"; write the one that holds the secret")
            return .wrong
        }
        guard let path = path.located else { return .wrong }
        return .given(
            Located(
                SourceConfiguration(
                    path: path.value,
                    format: FileFormat(name: named.name, isShared: named.isShared),
                    slot: given.first?.value.value.map(Slot.variable) ?? .whole),
                at: path.position))
    }

    /// The formats that a secret is read back from without further settings of the whole file.
    private static var readable: [any OutputFormat.Type] {
        FormatRegistry.all.filter { $0.setting?.scope != .file }
    }
}
