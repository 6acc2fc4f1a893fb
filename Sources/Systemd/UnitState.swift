/// A unit's state in systemd: what is read of it before and after an order.
package struct UnitState: Hashable, Sendable {
    /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`…
    package let load: String
    /// `active`, `reloading`, `activating`, `deactivating`, `inactive`, `failed`…
    package let activity: String
    /// The ID of its last start (systemd.exec(5)); empty before the first.
    package let invocation: [UInt8]

    /// Whether systemd has a file of the unit's and cannot use it: it starts no such unit, nor does it any other job of one but a
    /// stop.
    static func isBroken(_ load: String) -> Bool { ["bad-setting", "error"].contains(load) }

    package var isUp: Bool { ["active", "reloading"].contains(activity) }
    var isDown: Bool { ["inactive", "failed", "deactivating"].contains(activity) }
}

extension SystemdClient {
    package mutating func condition(of unit: String) throws(UnitError) -> UnitState {
        let properties = try target(unit, Self.propertyInterface)
        return UnitState(
            load: try property("LoadState", of: properties).variantText(),
            activity: try property("ActiveState", of: properties).variantText(),
            invocation: try property("InvocationID", of: properties).variantBytes())
    }
}
