import Rotation

/// Reads one item of `outputs`.
struct OutputReader {
    static let names = ["path", "format", "variable", "mode", "group", "as"]
    static let formats = ["raw", "env", "json"]

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
        draft.format = format(in: section)
        draft.mode = section.value("mode") { text throws(Mistake) in try Mode.read(text) }
        draft.group = section.value("group") { text throws(Mistake) in try Plain.account(text, kind: "group") }
        draft.owner = section.value("as") { text throws(Mistake) in try Plain.account(text, kind: "user") }
        return draft
    }

    private func format(in section: Section) -> Setting<Output.Format> {
        let format = section.value("format") { text throws(Mistake) -> String in
            guard Self.formats.contains(text) else {
                let advice = nearest(to: text, among: Self.formats).map { "did you mean \"\($0)\"?" }
                throw Mistake("unknown format\(apposition(text)); \(advice ?? "write raw, env or json")")
            }
            return text
        }
        let variable = section.value("variable") { text throws(Mistake) in try VariableName.read(text) }
        let position = format.placed?.position ?? section.position
        switch (format.value, variable) {
        case ("env", .given(let name)): return .given(Placed(.env(variable: name.value), position))
        case ("env", .absent):
            complaints.error(at: position, "format env needs a \"variable\"; write the one that the application reads")
            return .wrong
        case ("env", .wrong): return .wrong
        case (let other, .given), (let other, .wrong):
            guard section.has("variable") else { return .wrong }
            if case .wrong = format { return .wrong }
            complaints.error(
                at: section.position(of: "variable"),
                "format \(other ?? "raw") has no variable; write \"format: env\" or remove the line")
            return .wrong
        case (nil, .absent): return format.isAbsent ? .given(Placed(.raw, position)) : .wrong
        case (let other, .absent): return .given(Placed(other == "json" ? .json : .raw, position))
        }
    }
}
