import Formats
import Model

/// `format`, and the setting that only this format has.
struct WrittenFormat {
    let format: FileFormat
    let slot: FileSlot
    let position: Position

    /// Nil, with an error, if one of them is wrong or they do not go together.
    ///
    /// - Parameters:
    ///   - formats: those that may be written there.
    ///   - refusal: how a message about another one begins.
    ///   - isImplied: whether a setting that only one format has shows the format.
    init?(
        in section: Section, among formats: [any OutputFormat.Type], otherwise refusal: String, isImplied: Bool = false
    ) {
        let diagnostics = section.diagnostics
        let written = section.value("format") { text throws(ValueError) -> any OutputFormat.Type in
            if let format = formats.first(where: { $0.name == text }) { return format }
            let names = formats.map { $0.name }
            throw ValueError("\(refusal)\(apposition(text)); \(advice(for: text, among: names, otherwise: names))")
        }
        let settings = formats.compactMap { format in
            format.setting.map { setting in
                let value = section.value(setting.name) { text throws(ValueError) in
                    if let problem = setting.check(text, quoted) { throw ValueError(problem) }
                    return text
                }
                return (format: format, setting: setting, value: value)
            }
        }
        if written.isWrong { return nil }
        let implied = isImplied ? settings.first { !$0.value.isAbsent }?.format : nil
        let format = written.value ?? implied ?? FormatRegistry.standard
        let position = written.position ?? section.position
        var isWrong = false
        var own: String?
        for (other, setting, value) in settings {
            if other.name == format.name {
                own = value.value
                isWrong = isWrong || own == nil
                guard value.isAbsent else { continue }
                diagnostics.error(
                    at: position, "format \(format.name) needs a \"\(setting.name)\"; \(setting.advice)")
            } else {
                isWrong = isWrong || !value.isAbsent
                guard section.has(setting.name) else { continue }
                diagnostics.error(
                    at: section.position(of: setting.name),
                    "format \(format.name) has no \(setting.name); write \"format: \(other.name)\" or remove the line")
            }
        }
        if isWrong { return nil }
        let isOfFile = format.setting?.scope == .file
        self.format = FileFormat(name: format.name, parameter: isOfFile ? own : nil, isShared: format.isShared)
        slot = isOfFile ? .whole : FileSlot(variable: own)
        self.position = position
    }
}
