internal import Linux
package import Model
internal import Systemd

/// The core knows an action by its text, and runs each once. Two names of one unit, of which one is an alias, would make two
/// actions.
extension Configuration {
    /// The same with one name for each unit in actions of `on_change` that do the same to it. Returns it unchanged if systemd
    /// cannot be asked: then each of these actions runs, which the applications survive. Blocks.
    package func withOneNameForEachUnit() -> Configuration {
        let units = unitsOfLikeActions
        guard !units.isEmpty, SystemManager.isSystemd else { return self }
        // Less than a start waits for its state directory.
        let names = SystemdClient.ask(within: UnitTimeouts.shortAnswer) { systemd throws(UnitError) in
            var names: [String: String] = [:]
            for unit in units { names[unit] = try systemd.ownName(of: unit) }
            return names
        }
        return withOneName(ofUnitsCalled: names ?? [:])
    }

    /// The units of actions that differ in nothing but the unit.
    private var unitsOfLikeActions: Set<String> {
        let actions = Set(clients.values.flatMap(\.onChange))
        let alike = Dictionary(grouping: actions) { $0.withUnit { _ in "" } }.values.filter { $0.count > 1 }
        return Set(alike.joined().compactMap(\.unit))
    }

    /// - Parameter names: the own name of each unit.
    func withOneName(ofUnitsCalled names: [String: String]) -> Configuration {
        var chosen: [Action: Action] = [:]
        for action in clients.values.flatMap(\.onChange) {
            let own = action.withUnit { names[$0] ?? $0 }
            chosen[own] = [chosen[own], action].compactMap(\.self).min { left, right in
                // One that is written in the configuration, because people look for it there: its own name if possible.
                (left == own ? 0 : 1, left.id) < (right == own ? 0 : 1, right.id)
            }
        }
        var configuration = self
        for (client, entry) in clients {
            var seen: Set<Action> = []
            configuration.clients[client]?.onChange = entry.onChange
                .map { action in chosen[action.withUnit { names[$0] ?? $0 }] ?? action }
                .filter { seen.insert($0).inserted }
        }
        return configuration
    }
}
