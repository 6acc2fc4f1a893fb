/// The daemon's own units, which no action may name.
enum DaemonUnits {
    /// The units that run the daemon, or end and start with it. A daemon that restarts one of them after each start would never
    /// come to an end.
    static let names: Set<String> = [
        "clientsecretd.service", "clientsecretd.socket", "clientsecretd-credentials.socket",
        "clientsecretd-metrics.socket", "clientsecretd-once.service", "clientsecretd-once.timer",
        "clientsecretd-sockets.target",
    ]
}
