import AppleClientSecret
import Model

/// A kind of action, as the configuration has it.
///
/// To add one, write it in a new file, put it into ``ActionKinds/all``, and describe it in docs/configuration.md.
protocol ActionKind: Sendable {
    /// The keys that say such an action.
    static var verbs: [String] { get }

    /// The action under `verb`; nil, with an error, when it is wrong.
    ///
    /// - Parameter placeholder: whether `%s` means the state, as in `on_state_change`.
    static func read(_ verb: String, in item: Section, placeholder: Bool) -> Action?
}

/// The kinds of action, and the rules for all items of `on_change` and `on_state_change`.
enum ActionKinds {
    static let all: [any ActionKind.Type] = [
        UnitActionSettings.self, SignalActionSettings.self, ExecActionSettings.self,
    ]
    static let verbs = all.flatMap { $0.verbs }
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
        if item.has(timeout), !given.contains(where: ExecActionSettings.verbs.contains) {
            diagnostics.error(at: item.position(of: timeout), "\"\(timeout)\" is for exec only; remove the line")
        }
        guard let verb = given.first, let kind = all.first(where: { $0.verbs.contains(verb) }) else {
            if verbs.contains(where: item.mentions) { return nil }
            diagnostics.error(at: item.position, "this action does nothing; write \(alternatives(verbs))")
            return nil
        }
        if let second = given.dropFirst().first {
            diagnostics.error(
                at: item.position(of: second), "a second action in one item; begin a new item, \"- \(second): …\"")
        }
        return kind.read(verb, in: item, placeholder: placeholder).map { Located($0, at: item.position(of: verb)) }
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
