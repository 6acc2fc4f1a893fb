/// The connections that are open, by user.
struct ConnectionLimiter {
    private var total = 0
    private var byUser: [UInt32: Int] = [:]

    /// Counts a connection in; nil when it is let in, else why it is not. Those of the metrics socket count in the total
    /// alone: nobody knows whose they are.
    mutating func enter(_ listener: ListenerKind, control: ControlPolicy, limits: StatusServer.Limits) -> String? {
        let room = room(for: listener, control, limits)
        if total >= room { return "all \(room) connections are taken; try again" }
        if let user = listener.user {
            if user != 0, byUser[user, default: 0] >= limits.connectionsPerUser {
                return
                    "user \(user) has \(limits.connectionsPerUser) connections open, as many as one user may; close one"
            }
            byUser[user, default: 0] += 1
        }
        total += 1
        return nil
    }

    /// Whether no room is left for another one, whoever it is of.
    func isFull(for listener: ListenerKind, control: ControlPolicy, limits: StatusServer.Limits) -> Bool {
        total >= room(for: listener, control, limits)
    }

    private func room(for listener: ListenerKind, _ control: ControlPolicy, _ limits: StatusServer.Limits) -> Int {
        let isKept = listener.user.map(control.keepsRoom) ?? false
        return isKept ? limits.connections : limits.connections - limits.keptConnections
    }

    /// Counts a connection that was let in out again.
    mutating func leave(_ listener: ListenerKind) {
        total -= 1
        guard let user = listener.user else { return }
        let left = byUser[user, default: 0] - 1
        byUser[user] = left > 0 ? left : nil
    }
}
