/// The names of the package's systemd units.
package enum PackageUnit {
    /// Runs the daemon.
    package static let daemon = "clientsecretd.service"
    package static let statusSocket = "clientsecretd.socket"
    package static let credentialSocket = "clientsecretd-credentials.socket"
    package static let metricsSocket = "clientsecretd-metrics.socket"
    /// Starts and stops the daemon's sockets together.
    package static let sockets = "clientsecretd-sockets.target"
    /// Runs `run --once` instead of a daemon.
    package static let singleRun = "clientsecretd-once.service"
    package static let singleRunTimer = "clientsecretd-once.timer"

    /// Asks the store.
    package static let store = "clientsecretd-store.service"
    package static let storeSocket = "clientsecretd-store.socket"
    /// Asks Apple about new secrets. A template: the socket starts an instance for each connection.
    package static let verifier = "clientsecretd-verify@.service"
    package static let verifierSocket = "clientsecretd-verify.socket"

    /// The template of the services that push to targets.
    package static let pusherTemplate = "clientsecretd-push@.service"

    package static func pusher(of target: some CustomStringConvertible) -> String { "\(pushers)\(target).service" }

    package static func pusherSocket(of target: some CustomStringConvertible) -> String { "\(pushers)\(target).socket" }

    /// Writes a user's files.
    package static func writer(of user: String) -> String { "\(writers)\(user).service" }

    package static func writerSocket(of user: String) -> String { "\(writers)\(user).socket" }

    /// Whether a unit is the service that pushes to a target, or its socket.
    package static func isPusher(_ unit: String) -> Bool { unit.hasPrefix(pushers) }

    /// Whether a unit is a user's writer, or its socket.
    package static func isWriter(_ unit: String) -> Bool { unit.hasPrefix(writers) }

    private static let pushers = "clientsecretd-push@"
    private static let writers = "clientsecretd-writer@"
}
