import Formats
import Rotation

/// `from`: where a client without a private key receives its secrets.
enum SourceSettings {
    static let names = ["path", "format", "variable"]

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
        let variable = section.value("variable") { text throws(Mistake) in
            if let mistake = FormatRegistry.environment.setting?.check(text, quoted) { throw Mistake(mistake) }
            return text
        }
        let format = section.value("format") { text throws(Mistake) -> any OutputFormat.Type in
            if let format = readable.first(where: { $0.name == text }) { return format }
            let advice = nearest(to: text, among: readable.map { $0.name }).map { "did you mean \"\($0)\"?" }
            throw Mistake(
                "no secret is received as format\(apposition(text)); "
                    + (advice ?? "write \(alternatives(readable.map { $0.name }))"))
        }
        if case .wrong = variable { return .wrong }
        if case .wrong = format { return .wrong }
        let named: any OutputFormat.Type =
            format.value ?? (variable.isAbsent ? FormatRegistry.standard : FormatRegistry.environment)
        if named.isShared == variable.isAbsent {
            diagnostics.error(
                at: variable.position ?? format.position ?? position,
                variable.isAbsent
                    ? "format \(named.name) needs a \"variable\"; write the one that holds the secret"
                    : "format \(named.name) has no variable; remove one of the lines")
            return .wrong
        }
        guard let path = path.located else { return .wrong }
        return .given(
            Located(
                SourceConfiguration(
                    path: path.value,
                    format: FileFormat(name: named.name, isShared: named.isShared),
                    slot: variable.value.map(Slot.variable) ?? .whole),
                at: path.position))
    }

    /// The formats that a secret is read back from without further settings of the whole file.
    private static var readable: [any OutputFormat.Type] {
        FormatRegistry.all.filter { $0.setting?.scope != .file }
    }
}
