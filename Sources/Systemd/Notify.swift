/// What a service reports to systemd (sd_notify(3)).
package enum Notify {
    package enum Message: Hashable, Sendable {
        case ready
        /// One line for operators, in `systemctl status`.
        case status(String)
        case stopping
        /// Always followed by ``ready`` once the reload is over, also when the new configuration was refused. `since`:
        /// when it began, in microseconds on CLOCK_MONOTONIC, so that systemd knows whether it is the reload it asked
        /// for, however late the message arrives.
        case reloading(since: Int64)
        case watchdog
        /// The service is not done yet and needs this much more time, from now on.
        case extendTimeout(milliseconds: Int64)
        /// The errno that the service fails with.
        case failed(errno: Int32)

        private var assignments: [String] {
            switch self {
            case .ready: ["READY=1"]
            case .status(let text): ["STATUS=" + Notify.oneLine(text)]
            case .stopping: ["STOPPING=1"]
            case .reloading(let since): ["RELOADING=1", "MONOTONIC_USEC=\(since)"]
            case .watchdog: ["WATCHDOG=1"]
            case .extendTimeout(let milliseconds): ["EXTEND_TIMEOUT_USEC=\(milliseconds * 1_000)"]
            case .failed(let errno): ["ERRNO=\(errno)"]
            }
        }

        /// The messages as systemd reads them, one assignment a line.
        static func text(of messages: [Message]) -> String {
            messages.flatMap(\.assignments).joined(separator: "\n")
        }
    }

    /// Characters of a status that are sent, of up to four bytes each: systemd ignores a datagram of more than 4,096
    /// bytes, and the rest of one takes less than 90.
    private static let longestStatus = 1_000

    /// A line break would begin another assignment.
    private static func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(longestStatus)
                    .map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
