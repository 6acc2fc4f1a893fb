import AppleClientSecret
import Formats
import Model

/// One item of `outputs`: a file that holds the secret.
///
/// By reference, as are clients: ten thousand of them are passed from check to check.
final class FileOutputSettings: Sendable {
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
        let written = WrittenFormat(in: section, among: FormatRegistry.all, otherwise: "unknown format")
        format = written.map { .given(Located($0.format, at: $0.position)) } ?? .wrong
        slot = written?.slot ?? .whole
        mode = section.value("mode", FileMode.read)
        group = section.value("group", AccountName.group)
        owner = section.value("as", AccountName.user)
    }

    /// The output with these settings; nil when its path or format is wrong.
    var configuration: Output? {
        guard let path = path.value, let format = format.value else { return nil }
        return Output(
            path: path, format: format, slot: slot, mode: mode.value, group: group.value, owner: owner.value)
    }
}
