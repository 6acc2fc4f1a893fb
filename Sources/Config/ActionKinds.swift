import AppleClientSecret
import Model

/// The kinds of action, and the rules for all items of `on_change` and `on_state_change`.
enum ActionKinds {
    /// The keys that say an action.
    static let verbs = Action.UnitVerb.allCases.map(\.rawValue) + ["signal", ExecActionSettings.verb]
    /// The keys of an item.
    static let names = verbs + [ExecActionSettings.timeout]

    /// The setting `name` as a list of actions.
    ///
    /// - Parameter placeholder: whether `%s` means the state, as in `on_state_change`.
    static func list(_ name: String, in section: Section, placeholder: Bool = false) -> Setting<[Located<Action>?]> {
        section.list(name) { read($0, placeholder: placeholder, section.diagnostics) }
    }

    private static func read(_ node: YAMLNode, placeholder: Bool, _ diagnostics: Diagnostics) -> Located<Action>? {
        if case .scalar(let text) = node.content, !text.isEmpty {
            diagnostics.error(at: node.position, "an action says what to do; write \"- restart: myapp.service\"")
            return nil
        }
        guard let item = Section(node, of: "an action", at: node.position, names: names, diagnostics) else {
            return nil
        }
        let given = verbs.filter(item.has).sorted { item.position(of: $0) < item.position(of: $1) }
        let timeout = ExecActionSettings.timeout
        if item.has(timeout), !given.contains(ExecActionSettings.verb) {
            diagnostics.error(at: item.position(of: timeout), "\"\(timeout)\" is for exec only; remove the line")
        }
        guard let verb = given.first else {
            if verbs.contains(where: item.mentions) { return nil }
            diagnostics.error(at: item.position, "this action does nothing; write \(alternatives(verbs))")
            return nil
        }
        if let second = given.dropFirst().first {
            diagnostics.error(
                at: item.position(of: second), "a second action in one item; begin a new item, \"- \(second): …\"")
        }
        return action(verb, in: item, placeholder: placeholder).map { Located($0, at: item.position(of: verb)) }
    }

    /// The action under `verb`; nil, with an error, when it is wrong.
    private static func action(_ verb: String, in item: Section, placeholder: Bool) -> Action? {
        func unitName(_ name: String, in section: Section) -> String? {
            section.value(name) { text throws(ValueError) in try UnitName.read(text, placeholder: placeholder) }.value
        }
        if let order = Action.UnitVerb(rawValue: verb) {
            return unitName(verb, in: item).map { .unit(verb: order, unit: $0) }
        }
        if verb == ExecActionSettings.verb { return ExecActionSettings.read(in: item) }
        guard let section = item.unitAnd("signal", of: verb, such: "SIGHUP") else { return nil }
        let unit = unitName("unit", in: section)
        let signal = section.value("signal", SignalName.read).value
        guard let unit, let signal else { return nil }
        return .signal(unit: unit, signal: signal)
    }

    /// Finds actions that repeat or contradict each other.
    ///
    /// - Parameter lists: every list of actions in the configuration.
    static func check(_ lists: [Setting<[Located<Action>?]>], _ diagnostics: Diagnostics) {
        let actions = lists.flatMap { list in
            diagnostics.withoutRepetitions(
                (list.value ?? []).compactMap(\.self), by: { Located($0.value.id, at: $0.position) }
            ) { _, _, first in "the same action is already at \(first); remove one" }
        }
        ExecActionSettings.checkTimeouts(of: actions, diagnostics)
    }
}
