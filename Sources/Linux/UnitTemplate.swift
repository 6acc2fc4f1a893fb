/// The template of a systemd unit.
package enum UnitTemplate {
    /// The template that a unit is an instance of: `app@.service` of `app@one.service`. Nil when it is none.
    package static func name(of unit: String) -> String? {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), unit.index(after: at) < dot
        else { return nil }
        return String(unit[...at] + unit[dot...])
    }
}
