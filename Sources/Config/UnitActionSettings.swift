import Model

/// `restart:`, `reload:`, `reload_or_restart:`, `start:`: orders to systemd about a unit.
enum UnitActionSettings: ActionKind {
    static let verbs = Action.UnitVerb.allCases.map(\.rawValue)

    static func read(_ verb: String, in item: Section, placeholder: Bool) -> Action? {
        guard let verb = Action.UnitVerb(rawValue: verb) else { return nil }
        let unit = item.value(verb.rawValue) { text throws(ValueError) in
            try UnitName.read(text, placeholder: placeholder)
        }
        return unit.value.map { .unit(verb: verb, unit: $0) }
    }
}
