/// The messages still to be sent to the service manager, without those that later ones replace.
///
/// It never has more than a few messages, however many are added while nothing reads. The newest about the service's state
/// counts, and the last of several unsent reloads.
package struct NotifyQueue: Hashable, Sendable {
    /// Ready, reloading and stopping, in order. Each is sent by itself: of several in one datagram systemd sees only the
    /// last.
    private var phases: [Notify.Message] = []
    /// All else, at most one of each kind.
    private var newest: [Notify.Message] = []

    package init() {}

    package var isEmpty: Bool { phases.isEmpty && newest.isEmpty }

    /// The next messages, in one datagram.
    package var next: [Notify.Message] { newest + phases.prefix(1) }

    /// Call when ``next`` was sent.
    package mutating func removeNext() {
        newest = []
        phases = Array(phases.dropFirst())
    }

    package mutating func add(_ messages: [Notify.Message]) {
        for message in messages { add(message) }
    }

    private mutating func add(_ message: Notify.Message) {
        switch message {
        case .reloading:
            if phases.suffix(2).map(\.variable) == ["RELOADING", "READY"] { phases.removeLast(2) }
            phases.append(message)
        case .ready, .stopping:
            phases.append(message)
        case .status, .watchdog, .failed:
            newest.removeAll { $0.variable == message.variable }
            newest.append(message)
        }
    }
}
