import AppleClientSecret
import Model

/// A kind of action, as the configuration has it.
///
/// To add one, write it in a new file, put it into ``ActionKinds/all``, and describe it in docs/configuration.md.
protocol ActionKind: Sendable {
    /// The keys that say such an action.
    static var verbs: [String] { get }
    /// Further keys that only an item with such an action has.
    static var options: [String] { get }

    /// The action under `verb`; nil, with an error, when it is wrong.
    ///
    /// - Parameter placeholder: whether `%s` means the state, as in `on_state_change`.
    static func read(_ verb: String, in item: Section, placeholder: Bool) -> Action?

    /// Finds those of this kind that contradict each other among all actions of the configuration.
    static func check(_ actions: [Located<Action>], _ diagnostics: Diagnostics)
}

extension ActionKind {
    static var options: [String] { [] }
    static func check(_ actions: [Located<Action>], _ diagnostics: Diagnostics) {}
}

/// The kinds of action, and the rules for all items of `on_change` and `on_state_change`.
enum ActionKinds {
    static let all: [any ActionKind.Type] = [
        UnitActionSettings.self, SignalActionSettings.self, ExecActionSettings.self,
    ]
    static let verbs = all.flatMap { $0.verbs }
    /// The keys of an item.
    static let names = verbs + all.flatMap { $0.options }

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
        for kind in all where !given.contains(where: kind.verbs.contains) {
            for option in kind.options where item.has(option) {
                diagnostics.error(
                    at: item.position(of: option),
                    "\"\(option)\" is for \(alternatives(kind.verbs)) only; remove the line")
            }
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
        let actions = lists.flatMap { withoutRepeated($0, diagnostics) }
        for kind in all { kind.check(actions, diagnostics) }
    }

    private static func withoutRepeated(
        _ list: Setting<[Located<Action>?]>, _ diagnostics: Diagnostics
    ) -> [Located<Action>] {
        var first: [ActionID: Position] = [:]
        var kept: [Located<Action>] = []
        for action in list.value?.compactMap({ $0 }) ?? [] {
            let id = action.value.id
            if let position = first[id] {
                diagnostics.error(
                    at: action.position,
                    "the same action is already at \(position.seen(from: action.position)); remove one")
            } else {
                first[id] = action.position
                kept.append(action)
            }
        }
        return kept
    }
}
