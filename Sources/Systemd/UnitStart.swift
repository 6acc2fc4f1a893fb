/// Whether systemd starts a unit at the next boot, as far as the unit files tell.
package struct UnitStart: Hashable, Sendable {
    /// Why it does not.
    package enum Obstacle: Hashable, Sendable {
        /// It is not enabled, or until the boot only.
        case notEnabled
        /// It is masked. A mask that ends with the boot keeps it from every start before that, also from one after a failure.
        case masked(endsWithBoot: Bool)
        /// Its file is a link that the boot removes, which an enabled unit would need too.
        case linkedUntilBoot
        /// systemd has no file of it that it can use.
        case unusable
    }

    /// `LoadState`: `loaded`, `masked`, `bad-setting`…
    let load: String
    /// `UnitFileState`: `enabled`, `disabled`, `static` and so on; empty without a unit file.
    let enablement: String
    /// That of each unit whose start starts this one.
    let starters: [String: String]
    /// That of a unit that does its work too; nil if there is none.
    let substitute: String?

    package init(
        load: String = "loaded", enablement: String, starters: [String: String] = [:], substitute: String? = nil
    ) {
        self.load = load
        self.enablement = enablement
        self.starters = starters
        self.substitute = substitute
    }

    /// What is known to keep it from its start; nil if nothing is. A unit without `[Install]` (`static`, `indirect`), a generated
    /// one, a transient one and an alias are not judged: they are started otherwise than by their enablement, and no file has to
    /// show how.
    package var obstacle: Obstacle? {
        if substitute == "enabled" { return nil }
        if load == "masked" || enablement.hasPrefix("masked") {
            return .masked(endsWithBoot: enablement == "masked-runtime")
        }
        if load == "not-found" || UnitState.isBroken(load) || enablement == "bad" { return .unusable }
        return switch enablement {
        case "linked-runtime": .linkedUntilBoot
        case "disabled", "linked", "enabled-runtime": isStarted ? nil : .notEnabled
        default: nil
        }
    }

    /// Targets in these states are not reached by a boot because of their own enablement.
    private static let unreached = ["disabled", "linked", "enabled-runtime", "linked-runtime", "masked", "bad"]

    /// Whether another unit starts it at a boot. The target of a unit that is enabled until the boot does not want it after that.
    private var isStarted: Bool {
        starters.contains { name, state in
            guard name.hasSuffix(".target") else { return state == "enabled" }
            return enablement != "enabled-runtime" && !Self.unreached.contains(state)
        }
    }
}

extension SystemdClient {
    /// What keeps a unit from its start at the next boot; nil if nothing is known to.
    ///
    /// - Parameter other: a unit that does its work too.
    package mutating func obstacle(
        toStartOf unit: String, unless other: String? = nil
    ) throws(UnitError) -> UnitStart.Obstacle? {
        let properties = try target(unit)
        let wanting = try property("WantedBy", of: properties).words + property("RequiredBy", of: properties).words
        var starters: [String: String] = [:]
        for name in wanting { starters[name] = try enablement(of: name) }
        var substitute: String?
        if let other { substitute = try enablement(of: other) }
        let load = try state(of: unit).load
        return UnitStart(
            load: load, enablement: try enablement(of: unit), starters: starters, substitute: substitute
        ).obstacle
    }

    /// The same for a unit that is active now; nil for one that is not.
    package mutating func obstacle(
        toStartOfActive unit: String, unless other: String? = nil
    ) throws(UnitError) -> UnitStart.Obstacle? {
        try state(of: unit).isDown ? nil : obstacle(toStartOf: unit, unless: other)
    }
}
