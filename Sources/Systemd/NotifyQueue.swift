/// What the service manager has still to be told: of what was said, as much as still counts.
///
/// Never more than a few messages, however much is said while nobody reads: of what tells how things stand the newest
/// counts, and of several reloads that nobody has heard of the last.
package struct NotifyQueue: Hashable, Sendable {
    /// Ready, reloading and stopping, in the order in which they were. Each is sent apart: of several in one datagram
    /// systemd sees the last alone.
    private var phases: [Notify.Message] = []
    /// All else, at most one of each kind.
    private var newest: [Notify.Message] = []

    package init() {}

    package var isEmpty: Bool { phases.isEmpty && newest.isEmpty }

    /// What is to be sent as one now.
    package var next: [Notify.Message] { newest + phases.prefix(1) }

    /// To be called when ``next`` was sent.
    package mutating func removeNext() {
        newest = []
        phases = Array(phases.dropFirst())
    }

    package mutating func add(_ messages: [Notify.Message]) {
        for message in messages { add(message) }
    }

    private mutating func add(_ message: Notify.Message) {
        let kind = Kind(message)
        switch kind {
        case .ready:
            // It is for a start that is not over.
            newest.removeAll { Kind($0) == .extendTimeout }
            phases.append(message)
        case .reloading:
            if phases.suffix(2).map(Kind.init) == [.reloading, .ready] { phases.removeLast(2) }
            phases.append(message)
        case .stopping:
            phases.append(message)
        case .status, .watchdog, .extendTimeout, .failed:
            newest.removeAll { Kind($0) == kind }
            newest.append(message)
        }
    }

    private enum Kind {
        case ready
        case reloading
        case stopping
        case status
        case watchdog
        case extendTimeout
        case failed

        init(_ message: Notify.Message) {
            self =
                switch message {
                case .ready: .ready
                case .reloading: .reloading
                case .stopping: .stopping
                case .status: .status
                case .watchdog: .watchdog
                case .extendTimeout: .extendTimeout
                case .failed: .failed
                }
        }
    }
}
