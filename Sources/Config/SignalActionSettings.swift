internal import Model

/// `signal:`: a signal to a unit's main process.
enum SignalActionSettings: ActionKind {
    static let verbs = ["signal"]
    static let settings = ["unit", "signal"]

    static func read(_ verb: String, in item: Section, placeholder: Bool) -> Action? {
        guard let (node, position) = item.node(verb) else { return nil }
        let example = "write {unit: myapp.service, signal: SIGHUP}"
        if case .scalar(let text) = node.content, !text.isEmpty {
            item.diagnostics.error(at: node.position, "\"signal\" needs a unit and a signal; \(example)")
            return nil
        }
        guard let section = Section(node, of: "\"signal\"", at: position, names: settings, item.diagnostics) else {
            return nil
        }
        let unit = section.value("unit") { text throws(ValueError) in try UnitName.read(text, placeholder: placeholder)
        }
        let signal = section.value("signal", SignalName.read)
        for (name, missing) in [("unit", unit.isAbsent), ("signal", signal.isAbsent)] where missing {
            item.diagnostics.error(at: position, "\"signal\" has no \"\(name)\"; \(example)")
        }
        guard let unit = unit.value, let signal = signal.value else { return nil }
        return .signal(unit: unit, signal: signal)
    }
}
