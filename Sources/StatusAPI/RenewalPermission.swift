import Linux
import Rotation

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
    /// (`/proc/sys/kernel/overflowuid`): it may stand for anybody, so it grants nothing.
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
            ? "you come as user \(peer.user), which stands for anybody" : "you are user \(peer.user)"
        let help =
            group.map { "become a member of \"\($0.name)\"" } ?? "name a control_group in the configuration"
        return
            "only root, the daemon's own user (\(daemonUser))\(members) may do this, and \(you); use sudo, or \(help)"
    }
}

/// When the renewal of each client was last requested, so that no user keeps the rotation busy with requests.
struct RenewalPace {
    private var lastAsked: [ClientName: Int64] = [:]

    /// Records that `clients` are requested at `now` (milliseconds of any clock that only runs forward).
    ///
    /// - Returns: nil when the request is permitted; else the client that was requested last and the milliseconds until
    ///   it may be requested again, and nothing is recorded.
    mutating func ask(for clients: some Collection<ClientName>, at now: Int64, pause: Int64, isRoot: Bool)
        -> (client: ClientName, wait: Int64)?
    {
        lastAsked = lastAsked.filter { $0.value + pause > now }
        if !isRoot,
            let latest = clients.compactMap({ name in lastAsked[name].map { (name, $0) } }).max(by: { $0.1 < $1.1 })
        {
            return (latest.0, latest.1 + pause - now)
        }
        for client in clients { lastAsked[client] = now }
        return nil
    }
}
