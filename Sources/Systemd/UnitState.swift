/// A unit's state in systemd, read before and after an order.
package struct UnitState: Hashable, Sendable {
    /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`…
    package let load: String
    /// `active`, `reloading`, `activating`, `deactivating`, `inactive`, `failed`…
    package let activity: String
    /// The ID of its last start, in hexadecimal digits (systemd.exec(5)); empty before the first.
    package let invocation: String

    /// Whether systemd has a file of the unit and cannot use it. It does not start such a unit, and its only possible job is a
    /// stop.
    static func isBroken(_ load: String) -> Bool { ["bad-setting", "error"].contains(load) }

    package var isUp: Bool { ["active", "reloading"].contains(activity) }
    var isDown: Bool { ["inactive", "failed", "deactivating"].contains(activity) }
}

extension SystemdClient {
    package mutating func state(of unit: String) throws(UnitError) -> UnitState {
        let properties = try target(unit)
        return UnitState(
            load: try property("LoadState", of: properties).text,
            activity: try property("ActiveState", of: properties).text,
            invocation: try property("InvocationID", of: properties).text)
    }
}
