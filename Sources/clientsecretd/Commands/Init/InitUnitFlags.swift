import ArgumentParser
import Model

/// The unit that `init` has notified of a new secret, and how.
struct InitUnitFlags: ParsableArguments {
    @Option(help: .value("unit", "The unit to restart after each renewal."), transform: Flags.unit)
    var restart: String?

    @Option(help: .value("unit", "Instead, the unit to reload."), transform: Flags.unit)
    var reload: String?

    @Option(help: .value("unit", "Instead, the oneshot unit to start."), transform: Flags.unit)
    var start: String?

    var unit: String? { restart ?? reload ?? start }

    /// Nil if no flag says it.
    var verb: Action.UnitVerb? {
        if restart != nil { return .restart }
        if reload != nil { return .reload }
        return start == nil ? nil : .start
    }

    mutating func validate() throws {
        guard [restart, reload, start].compactMap(\.self).count <= 1 else {
            throw ValidationError("--restart, --reload and --start cannot be combined; use one of them")
        }
    }
}
