/// The connections that are open, by user.
struct Visitors {
    private var total = 0
    private var byUser: [UInt32: Int] = [:]

    /// Counts a connection of `user` in; nil when it is let in, else why it is not.
    mutating func enter(_ user: UInt32, control: ControlPolicy, limits: StatusServer.Limits) -> String? {
        let room = control.keepsRoom(for: user) ? limits.connections : limits.connections - limits.keptConnections
        if total >= room { return "all \(room) connections are taken; try again" }
        if user != 0, byUser[user, default: 0] >= limits.connectionsPerUser {
            return "user \(user) has \(limits.connectionsPerUser) connections open, as many as one user may; close one"
        }
        total += 1
        byUser[user, default: 0] += 1
        return nil
    }

    /// Counts a connection that was let in out again.
    mutating func leave(_ user: UInt32) {
        total -= 1
        let left = byUser[user, default: 0] - 1
        byUser[user] = left > 0 ? left : nil
    }
}
