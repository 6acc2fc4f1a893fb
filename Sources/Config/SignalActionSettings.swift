internal import Model

/// `signal:`: a signal to a unit's main process.
enum SignalActionSettings: ActionKind {
    static let verbs = ["signal"]

    static func read(_ verb: String, in item: Section, placeholder: Bool) -> Action? {
        guard let section = item.unitAnd("signal", of: verb, such: "SIGHUP") else { return nil }
        let unit = section.value("unit") { text throws(ValueError) in try UnitName.read(text, placeholder: placeholder)
        }
        let signal = section.value("signal", SignalName.read)
        guard let unit = unit.value, let signal = signal.value else { return nil }
        return .signal(unit: unit, signal: signal)
    }
}
