import AppleClientSecret
import Rotation

/// Reads one item of `on_change` or `on_state_change`.
struct ActionReader {
    static let verbs = Action.UnitVerb.allCases.map(\.rawValue) + ["signal", "exec"]
    static let names = verbs + ["timeout"]
    static let signalNames = ["unit", "signal"]

    /// The kernel allows 128 KiB for one argument and more in total; command lines written by hand stay far below that.
    static let maximumArguments = 256
    static let maximumLength = 65_536

    let complaints: Diagnostics
    /// Whether `%s` stands for the state, as in `on_state_change`.
    let placeholder: Bool

    func read(_ node: YAMLNode) -> Placed<Action>? {
        if case .scalar(let text) = node.content, !text.isEmpty {
            complaints.error(at: node.position, "an action says what to do; write \"- restart: myapp.service\"")
            return nil
        }
        guard
            let section = Section(
                node, of: "an action", at: node.position, names: Self.names, complaints: complaints)
        else { return nil }
        let given = Self.verbs.filter(section.has).sorted { section.position(of: $0) < section.position(of: $1) }
        let timeout = section.value("timeout") { text throws(Mistake) in try Span.readTimeout(text) }
        if !timeout.isAbsent && !given.contains("exec") {
            complaints.error(at: section.position(of: "timeout"), "\"timeout\" is for exec only; remove the line")
        }
        guard let verb = given.first else {
            if Self.verbs.contains(where: section.mentions) { return nil }
            complaints.error(at: section.position, "this action does nothing; write \(alternatives(Self.verbs))")
            return nil
        }
        if let second = given.dropFirst().first {
            complaints.error(
                at: section.position(of: second), "a second action in one item; begin a new item, \"- \(second): …\"")
        }
        return action(verb, in: section, timeout: timeout).map { Placed($0, section.position(of: verb)) }
    }

    private func action(_ verb: String, in section: Section, timeout: Setting<Seconds>) -> Action? {
        if let unitVerb = Action.UnitVerb(rawValue: verb) {
            return section.value(verb, unitName).value.map { .unit(verb: unitVerb, unit: $0) }
        }
        return verb == "signal" ? signal(in: section) : exec(in: section, timeout: timeout)
    }

    private func unitName(_ text: String) throws(Mistake) -> String {
        try UnitName.read(text, placeholder: placeholder)
    }

    private func signal(in section: Section) -> Action? {
        guard let (node, position) = section.node("signal") else { return nil }
        if case .scalar(let text) = node.content, !text.isEmpty {
            complaints.error(
                at: node.position, "\"signal\" needs a unit and a signal; write {unit: myapp.service, signal: SIGHUP}")
            return nil
        }
        guard
            let inner = Section(
                node, of: "\"signal\"", at: position, names: Self.signalNames, complaints: complaints)
        else { return nil }
        let unit = inner.value("unit", unitName)
        let signal = inner.value("signal") { text throws(Mistake) in try SignalName.read(text) }
        for (name, missing) in [("unit", unit.isAbsent), ("signal", signal.isAbsent)] where missing {
            complaints.error(
                at: position, "\"signal\" has no \"\(name)\"; write {unit: myapp.service, signal: SIGHUP}")
        }
        guard let unit = unit.value, let signal = signal.value else { return nil }
        return .signal(unit: unit, signal: signal)
    }

    private func exec(in section: Section, timeout: Setting<Seconds>) -> Action? {
        guard let (node, position) = section.node("exec") else { return nil }
        if case .scalar(let text) = node.content, !text.isEmpty {
            complaints.error(
                at: node.position,
                "\"exec\" is a list, for there is no shell; write [/usr/local/bin/after-rotation, --quiet]")
            return nil
        }
        guard let items = section.list("exec", argument).value else { return nil }
        let arguments = items.compactMap { $0 }
        guard let program = items.first else {
            complaints.error(at: position, "\"exec\" is empty; write the program's path and its arguments")
            return nil
        }
        guard arguments.count == items.count, let program else { return nil }
        guard arguments.count <= Self.maximumArguments,
            arguments.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumLength
        else {
            complaints.error(
                at: position,
                "\"exec\" takes \(Self.maximumArguments) arguments of 64 KiB in all at most; write a script that has them"
            )
            return nil
        }
        let path = Section.value(
            YAMLNode(position: firstItem(of: node), content: .scalar(program)), named: "the program", at: position,
            complaints: complaints
        ) { text throws(Mistake) in
            guard text.hasPrefix("/") else {
                throw Mistake("program \(quoted(text)) is not looked up in PATH; write its absolute path")
            }
            return try Plain.path(text)
        }
        guard let path = path.value else { return nil }
        if case .wrong = timeout { return nil }
        return .exec(
            arguments: [path.description] + arguments.dropFirst(), timeout: timeout.value ?? Action.defaultTimeout)
    }

    private func firstItem(of node: YAMLNode) -> Position {
        guard case .sequence(let items) = node.content, let first = items.first else { return node.position }
        return first.position
    }

    /// Unlike other values, an argument may be empty (`""`).
    private func argument(_ node: YAMLNode) -> String? {
        switch node.content {
        case .scalar(let text): return text
        case .refused: return nil
        case .sequence, .mapping:
            complaints.error(at: node.position, "an argument is one value; put it in quotes")
            return nil
        }
    }
}
