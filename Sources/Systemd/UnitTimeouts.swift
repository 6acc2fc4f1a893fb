/// How long systemd and units have, in milliseconds.
package enum UnitTimeouts {
    /// For requests that systemd answers at once, and for a permission check, which waits until polkit has started.
    package static let answer: Int64 = 10_000
    /// For optional requests, so that nothing waits for them for long.
    package static let shortAnswer: Int64 = 2_000
    /// For a unit's own name.
    static let name: Int64 = 5_000
    /// For a search through all services, on a busy machine.
    package static let search: Int64 = 30_000
    /// For systemd to read all units again.
    package static let reload: Int64 = 60_000

    /// For systemd's answers about an order, and for a start that is under way already; systemd ends most of those after 90 s
    /// (DefaultTimeoutStartSec=).
    package static let order: Int64 = 200_000
    /// The time for one of these answers, before the request is sent again over a new connection. Any user can fill a
    /// connection's queue at the bus, which then drops systemd's messages.
    package static let repetition: Int64 = 20_000
    /// For the end of an order. A unit may have no limit, and a start that is given up here would be ordered again.
    package static let job: Int64 = 3_600_000
    /// How long a started or restarted unit must stay up: systemd calls a `Type=simple` service started once its process exists,
    /// which may end at once. Longer than most take to read their settings, and short enough to wait for.
    static let stayingUp: Int64 = 5_000

    /// How long a job is not given up although systemd has gone: while it executes itself again (`systemctl daemon-reexec`), or
    /// while the bus is restarted.
    static let absence: Int64 = 20_000
    /// Between two tries; the longest is for states that may last for minutes.
    static let pause: Int64 = 200
    static let longestPause: Int64 = 5_000
}
