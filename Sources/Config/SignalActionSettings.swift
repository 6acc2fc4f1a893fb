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

/// Signals that can ask a program to read its files again.
package enum SignalName {
    /// Their numbers on Linux, on every architecture that Swift supports.
    package static let numbers: [String: Int32] = [
        "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGUSR1": 10, "SIGUSR2": 12, "SIGALRM": 14, "SIGTERM": 15,
        "SIGCONT": 18,
        "SIGURG": 23, "SIGVTALRM": 26, "SIGPROF": 27, "SIGWINCH": 28, "SIGIO": 29, "SIGPWR": 30,
    ]

    static func read(_ text: String) throws(ValueError) -> String {
        if numbers[text] != nil { return text }
        let full = "SIG" + text.uppercased()
        let meant = numbers[full] != nil ? full : nearest(to: text, among: numbers.keys.sorted())
        let advice =
            meant.map { "did you mean \"\($0)\"?" } ?? "write SIGHUP, SIGUSR1 or another that a program can act on"
        throw ValueError("\(quoted(text)) is not a signal that can be sent; \(advice)")
    }
}
