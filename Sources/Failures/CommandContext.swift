import Synchronization

/// What commands have to name, or cannot do, because of how this process was started.
package struct CommandContext: Hashable, Sendable {
    /// The configuration's absolute path; nil: the default.
    package var configuration: String?
    /// The status socket's absolute path; nil: the default, where the package's units have theirs.
    package var socket: String?
    /// Whether systemd runs this machine.
    package var hasSystemd: Bool
    /// Whether there is a daemon that can be asked.
    package var hasDaemon: Bool

    package init(
        configuration: String? = nil, socket: String? = nil, hasSystemd: Bool = true, hasDaemon: Bool = true
    ) {
        self.configuration = configuration
        self.socket = socket
        self.hasSystemd = hasSystemd
        self.hasDaemon = hasDaemon
    }

    private static let shared = Mutex(CommandContext())

    /// Of this process: a service of the package, unless ``use()`` said otherwise.
    package static var current: CommandContext { shared.withLock { $0 } }

    /// Makes it the process's, once at the start.
    package func use() {
        Self.shared.withLock { $0 = self }
    }
}
