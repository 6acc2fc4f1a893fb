import AppleClientSecret
import Formats
import Model

/// One item of `outputs`: a file that holds the secret.
///
/// By reference, as are clients: ten thousand of them are passed from check to check.
final class FileOutput: Sendable {
    static let names =
        ["path", "format"] + FormatRegistry.all.compactMap { $0.setting?.name } + ["mode", "group", "as"]

    let path: Setting<AbsolutePath>
    let format: Setting<FileFormat>
    let slot: FileSlot
    let mode: Setting<UInt16>
    let group: Setting<String>
    let owner: Setting<String>

    /// Nil, with an error, when the node has no settings.
    init?(_ node: YAMLNode, _ diagnostics: Diagnostics) {
        if case .scalar(let text) = node.content, text.hasPrefix("/") {
            diagnostics.error(at: node.position, "an output has settings of its own; write \"- path: …\"")
            return nil
        }
        guard let section = Section(node, of: "an output", at: node.position, names: Self.names, diagnostics) else {
            return nil
        }
        let path = section.value("path", Scalar.file)
        if path.isAbsent {
            diagnostics.error(at: section.position, "this output has no \"path\"; write the file that holds the secret")
        }
        self.path = path.or(.wrong)
        (format, slot) = Self.format(in: section)
        mode = section.value("mode", Scalar.mode)
        group = section.value("group", Scalar.group)
        owner = section.value("as", Scalar.user)
    }

    /// The output with these settings; nil when its path or format is wrong.
    var configuration: Output? {
        guard let path = path.value, let format = format.value else { return nil }
        return Output(
            path: path, format: format, slot: slot, mode: mode.value, group: group.value, owner: owner.value)
    }

    /// `format`, and the settings that only one format has.
    private static func format(in section: Section) -> (Setting<FileFormat>, FileSlot) {
        let written = WrittenFormat(in: section, among: FormatRegistry.all, otherwise: "unknown format")
        let format = written.format.isAbsent ? FormatRegistry.standard : written.format.value
        let position = written.format.position ?? section.position
        var isWrong = false
        var parameter: String?
        var slot = FileSlot.whole
        for (other, setting, value) in written.settings {
            guard let format else { continue }
            guard other.name == format.name else {
                isWrong = isWrong || !value.isAbsent
                if section.has(setting.name) {
                    section.diagnostics.error(
                        at: section.position(of: setting.name),
                        "format \(format.name) has no \(setting.name); write \"format: \(other.name)\" or remove the line"
                    )
                }
                continue
            }
            switch (value, setting.scope) {
            case (.given(let text), .place): slot = .variable(text.value)
            case (.given(let text), .file): parameter = text.value
            case (.wrong, _): isWrong = true
            case (.absent, _):
                isWrong = true
                section.diagnostics.error(
                    at: position, "format \(format.name) needs a \"\(setting.name)\"; \(setting.advice)")
            }
        }
        guard let format, !isWrong else { return (.wrong, slot) }
        let file = FileFormat(name: format.name, parameter: parameter, isShared: format.isShared)
        return (.given(Located(file, at: position)), slot)
    }
}

/// An output whose path is known, and its client.
struct ClientOutput {
    let client: ClientName
    let output: FileOutput
    let path: Located<AbsolutePath>

    /// The outputs of these clients, in their order.
    static func all(of clients: [WrittenClient]) -> [ClientOutput] {
        clients.flatMap { client in
            client.settings.files.compactMap { output in
                guard let path = output.path.located else { return nil }
                return ClientOutput(client: client.name.value, output: output, path: path)
            }
        }
    }

    /// Finds outputs that contradict each other, or let others read the secret.
    static func check(_ outputs: [ClientOutput], _ diagnostics: Diagnostics) {
        var first: [AbsolutePath: ClientOutput] = [:]
        var variables: [AbsolutePath: [String: ClientOutput]] = [:]
        for output in outputs {
            output.warnOfOthers(diagnostics)
            let path = output.path.value
            if let other = first[path] {
                output.compare(with: other, diagnostics)
            } else {
                first[path] = output
                output.warnOfDirenv(diagnostics)
            }
            guard let variable = output.output.slot.variable, output.output.format.value != nil else { continue }
            if let other = variables[path, default: [:]][variable] {
                diagnostics.error(
                    at: output.path.position,
                    "client \"\(other.client)\" already sets variable \(quoted(variable)) of \(path) "
                        + "(\(other.path.position.seen(from: output.path.position))); write another variable or another path"
                )
            } else {
                variables[path, default: [:]][variable] = output
            }
        }
    }

    private func warnOfOthers(_ diagnostics: Diagnostics) {
        guard let mode = output.mode.located, mode.value & 0o006 != 0 else { return }
        let may: String =
            switch mode.value & 0o006 {
            case 0o004: "read"
            case 0o002: "overwrite"
            default: "read and overwrite"
            }
        diagnostics.warning(
            at: mode.position,
            "mode \(Scalar.text(mode: mode.value)) lets every user \(may) the secret; "
                + "write \(Scalar.text(mode: mode.value & 0o770)) and a group")
    }

    private func warnOfDirenv(_ diagnostics: Diagnostics) {
        guard path.value.name == ".envrc" else { return }
        diagnostics.warning(
            at: path.position,
            "after each change of an .envrc, direnv loads nothing from it before a user runs \"direnv allow\"; write another "
                + "file, such as .env, and load it with a line \"dotenv\" in .envrc")
    }

    /// - Parameter other: the first output with the same path.
    private func compare(with other: ClientOutput, _ diagnostics: Diagnostics) {
        let holder = "client \"\(other.client)\" (\(other.path.position.seen(from: path.position)))"
        if let format = output.format.value, let otherFormat = other.output.format.value,
            !(format.isShared && format == otherFormat)
        {
            let shared = alternatives(FormatRegistry.all.filter { $0.isShared }.map { $0.name })
            diagnostics.error(
                at: path.position,
                "\(path.value) is already an output of \(holder); write another path, or format \(shared) in both")
            return
        }
        func compare<Value: Equatable>(
            _ name: String, _ value: Setting<Value>, _ otherValue: Setting<Value>, _ text: (Value) -> String
        ) {
            guard !value.isWrong, !otherValue.isWrong, value.value != otherValue.value else { return }
            func shown(_ value: Value?) -> String { value.map { "\(name) \(text($0))" } ?? "no \(name)" }
            diagnostics.error(
                at: value.position ?? path.position,
                "\(path.value) has \(shown(value.value)) here and \(shown(otherValue.value)) in \(holder); write the same in both"
            )
        }
        compare("mode", output.mode, other.output.mode) { Scalar.text(mode: $0) }
        compare("group", output.group, other.output.group) { $0 }
        compare("\"as\"", output.owner, other.output.owner) { $0 }
    }
}
