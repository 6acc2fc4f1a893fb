import Formats
import Rotation

/// Reads one item of `outputs`.
struct OutputReader {
    static let names =
        ["path", "format"] + Formats.all.compactMap { $0.setting?.name } + ["mode", "group", "as"]

    let complaints: Diagnostics

    func read(_ node: YAMLNode) -> OutputDraft? {
        if case .scalar(let text) = node.content, text.hasPrefix("/") {
            complaints.error(at: node.position, "an output has settings of its own; write \"- path: …\"")
            return nil
        }
        guard
            let section = Section(
                node, of: "an output", at: node.position, names: Self.names, complaints: complaints)
        else { return nil }
        var draft = OutputDraft(position: node.position)
        draft.path = section.value("path") { text throws(Mistake) in try Plain.path(text) }
        if draft.path.isAbsent {
            complaints.error(at: section.position, "this output has no \"path\"; write the file that holds the secret")
            draft.path = .wrong
        }
        readFormat(in: section, into: &draft)
        draft.mode = section.value("mode") { text throws(Mistake) in try Mode.read(text) }
        draft.group = section.value("group") { text throws(Mistake) in try Plain.account(text, kind: "group") }
        draft.owner = section.value("as") { text throws(Mistake) in try Plain.account(text, kind: "user") }
        return draft
    }

    private func readFormat(in section: Section, into draft: inout OutputDraft) {
        let format = section.value("format") { text throws(Mistake) -> any OutputFormat.Type in
            if let format = Formats.named(text) { return format }
            let names = Formats.all.map { $0.name }
            let advice = nearest(to: text, among: names).map { "did you mean \"\($0)\"?" }
            throw Mistake("unknown format\(apposition(text)); \(advice ?? "write \(alternatives(names))")")
        }
        var values: [String: Setting<String>] = [:]
        for setting in Formats.all.compactMap({ $0.setting }) {
            values[setting.name] = section.value(setting.name) { text throws(Mistake) in
                if let mistake = setting.check(text, quoted) { throw Mistake(mistake) }
                return text
            }
        }
        guard let known = format.isAbsent ? Formats.standard : format.value else {
            draft.format = .wrong
            return
        }
        let position = format.placed?.position ?? section.position
        var isWrong = false
        var parameter: String?
        for other in Formats.all {
            guard let setting = other.setting, let value = values[setting.name] else { continue }
            guard other.name == known.name else {
                isWrong = isWrong || !value.isAbsent
                if section.has(setting.name) {
                    complaints.error(
                        at: section.position(of: setting.name),
                        "format \(known.name) has no \(setting.name); write \"format: \(other.name)\" or remove the line"
                    )
                }
                continue
            }
            switch (value, setting.scope) {
            case (.given(let text), .place): draft.slot = .variable(text.value)
            case (.given(let text), .file): parameter = text.value
            case (.wrong, _): isWrong = true
            case (.absent, _):
                isWrong = true
                complaints.error(at: position, "format \(known.name) needs a \"\(setting.name)\"; \(setting.advice)")
            }
        }
        if isWrong {
            draft.format = .wrong
            return
        }
        draft.format = .given(
            Placed(FileFormat(name: known.name, parameter: parameter, isShared: known.isShared), position))
    }
}
