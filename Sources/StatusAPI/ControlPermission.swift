import AppleClientSecret
import Linux
import Model

/// Who may renew and reload over the status socket: root, the daemon's own user, and the members of one group.
package struct RenewalPermission: Hashable, Sendable {
    package var daemonUser: UInt32
    /// The configuration's `control_group`; nil when it has none, or none that exists.
    package var group: Group?

    /// A group's name and number.
    package struct Group: Hashable, Sendable {
        package var name: String
        package var id: UInt32

        package init(name: String, id: UInt32) {
            self.name = name
            self.id = id
        }
    }

    package init(daemonUser: UInt32, group: Group? = nil) {
        self.daemonUser = daemonUser
        self.group = group
    }

    /// The number that the kernel reports for every user and group without one in this user namespace
    /// (`/proc/sys/kernel/overflowuid`): it may be any user, so it grants nothing.
    static let overflowID: UInt32 = 65_534

    /// Whether `peer` may change what the daemon does.
    func permits(_ peer: Peer) -> Bool {
        if peer.user == 0 { return true }
        if peer.user == Self.overflowID { return false }
        if peer.user == daemonUser { return true }
        guard let group, group.id != Self.overflowID else { return false }
        return peer.belongs(to: group.id)
    }

    /// Whether `user` may take one of the connections that are reserved for root and the daemon's own user.
    func keepsRoom(for user: UInt32) -> Bool {
        user == 0 || (user == daemonUser && user != Self.overflowID)
    }

    /// Why `peer` is not permitted, and who is.
    func refusal(to peer: Peer) -> String {
        let members = group.map { " and members of the group \"\($0.name)\"" } ?? ""
        let you =
            peer.user == Self.overflowID
            ? "you come as user \(peer.user), which means any user" : "you are user \(peer.user)"
        let help =
            group.map { "become a member of \"\($0.name)\"" } ?? "name a control_group in the configuration"
        return
            "only root, the daemon's own user (\(daemonUser))\(members) may do this, and \(you); use sudo, or \(help)"
    }
}

/// What a `POST` asks for, as far as it may not be asked for again at once.
enum ControlDemand: Hashable {
    case renewal(ClientName)
    case rollout(ClientName, RolloutOrder)
    case reload
}

/// When everything was last asked for by somebody else than root, so that no user keeps the rotation busy with requests. A
/// hook runs as the daemon's own user, and is limited like everybody else.
struct RequestLimiter {
    private var limits: [ControlDemand: RateLimit] = [:]

    /// Records that all of `demands` are asked for.
    ///
    /// - Returns: nil when the request is permitted; else the demand that has to wait longest and the seconds until then, and
    ///   nothing is recorded.
    mutating func ask(
        for demands: some Collection<ControlDemand>, at now: BootTime, pause: Seconds
    ) -> (demand: ControlDemand, seconds: Int64)? {
        limits = limits.filter { $0.value.isSpent(at: now) }
        let waits = demands.compactMap { demand in limits[demand]?.next(at: now).map { (demand, $0) } }
        if let (demand, next) = waits.max(by: { $0.1 < $1.1 }) {
            return (demand, max(1, (next.milliseconds - now.milliseconds + 999) / 1000))
        }
        for demand in demands { limits[demand, default: RateLimit(1, in: pause)].note(at: now) }
        return nil
    }
}

extension ControlDemand: CustomStringConvertible {
    /// The beginning of a sentence about when it was last asked for.
    var description: String {
        switch self {
        case .renewal(let client): "client \"\(client)\" was asked for"
        case .rollout(let client, let order): "\"\(order.rawValue)\" for client \"\(client)\" was asked for"
        case .reload: "a reload was asked for"
        }
    }
}
