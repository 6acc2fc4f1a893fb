/// Counts the open connections, in all and by user.
struct OpenConnections {
    private var total = 0
    private var byUser: [UInt32: Int] = [:]

    /// Counts a connection and returns nil when it is admitted, else returns why not. The metrics socket has no peer
    /// credentials: its connections count only towards the total.
    mutating func enter(_ listener: ListenerKind, control: ControlPermission, limits: HTTPLimits) -> String? {
        if let user = listener.user, isAtLimit(user, limits) {
            return "user \(user) has \(limits.connectionsPerUser) connections open, the limit for one user; close one"
        }
        let room = room(for: listener, control, limits)
        if total >= room { return "all \(room) connections are taken; try again" }
        if let user = listener.user { byUser[user, default: 0] += 1 }
        total += 1
        return nil
    }

    /// Whether another connection of this kind lacks nothing but room: the user's own limit would refuse it in any case.
    func needsRoom(for listener: ListenerKind, control: ControlPermission, limits: HTTPLimits) -> Bool {
        if let user = listener.user, isAtLimit(user, limits) { return false }
        return total >= room(for: listener, control, limits)
    }

    private func isAtLimit(_ user: UInt32, _ limits: HTTPLimits) -> Bool {
        user != 0 && byUser[user, default: 0] >= limits.connectionsPerUser
    }

    private func room(for listener: ListenerKind, _ control: ControlPermission, _ limits: HTTPLimits) -> Int {
        let isKept = listener.user.map(control.keepsRoom) ?? false
        return isKept ? limits.connections : limits.connections - limits.keptConnections
    }

    /// Stops counting a connection that was admitted.
    mutating func leave(_ listener: ListenerKind) {
        total -= 1
        guard let user = listener.user else { return }
        let left = byUser[user, default: 0] - 1
        byUser[user] = left > 0 ? left : nil
    }
}
