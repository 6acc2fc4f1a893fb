import AppleClientSecret
package import Linux
import Model

/// The users that may renew and reload over the status socket: root, the daemon's own user, and the members of one group.
package struct ControlPermission: Hashable, Sendable {
    package var daemonUser: UInt32
    /// The configuration's `control_group`; nil when it has none, or none that exists.
    package var group: Group?

    package init(daemonUser: UInt32, group: Group? = nil) {
        self.daemonUser = daemonUser
        self.group = group
    }

    /// Whether `peer` may change the daemon's work.
    func permits(_ peer: Peer) -> Bool {
        if peer.user == 0 { return true }
        if peer.user == Accounts.overflowID { return false }
        if peer.user == daemonUser { return true }
        guard let group, group.id != Accounts.overflowID else { return false }
        return peer.belongs(to: group.id)
    }

    /// Whether `user` may take one of the connections that are reserved for root and the daemon's own user.
    func keepsRoom(for user: UInt32) -> Bool {
        user == 0 || (user == daemonUser && user != Accounts.overflowID)
    }

    /// Why `peer` is not permitted, and which users are.
    func refusal(to peer: Peer) -> String {
        let members = group.map { " and members of the group \"\($0.name)\"" } ?? ""
        let you =
            peer.user == Accounts.overflowID
            ? "your user is not known (\(peer.user))" : "you are user \(peer.user)"
        let help =
            group.map { "become a member of \"\($0.name)\"" } ?? "name a control_group in the configuration"
        return
            "only root, the daemon's own user (\(daemonUser))\(members) may do this, and \(you); use sudo, or \(help)"
    }
}
