/// Whether systemd starts a unit at the next boot, as far as the unit files tell.
package struct UnitStart: Hashable, Sendable {
    /// `UnitFileState`: `enabled`, `disabled`, `static` and so on; empty without a unit file.
    let enablement: String
    /// That of each unit whose start starts this one.
    let starters: [String: String]

    package init(enablement: String, starters: [String: String]) {
        self.enablement = enablement
        self.starters = starters
    }

    /// Whether it is known that nothing starts it, and that enabling it helps. A unit without `[Install]`, a masked one and a
    /// generated one are left as they are, because the administrator wants them so.
    package var isOnlyByHand: Bool {
        ["disabled", "enabled-runtime"].contains(enablement)
            && !starters.contains { name, enablement in
                enablement == "enabled" || name.hasSuffix(".target") && enablement != "disabled"
            }
    }
}

extension SystemdClient {
    /// Whether a unit is active now and nothing starts it at the next boot.
    ///
    /// - Parameter other: a unit that does its work too.
    package mutating func isIdleAfterBoot(_ unit: String, unless other: String? = nil) throws(UnitError) -> Bool {
        guard try !state(of: unit).isDown else { return false }
        let properties = try target(unit)
        let wanting = try property("WantedBy", of: properties).words + property("RequiredBy", of: properties).words
        var starters: [String: String] = [:]
        for name in wanting + [other].compactMap(\.self) { starters[name] = try enablement(of: name) }
        return UnitStart(enablement: try enablement(of: unit), starters: starters).isOnlyByHand
    }
}
