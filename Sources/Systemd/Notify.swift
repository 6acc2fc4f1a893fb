import CLibsystemd
import Glibc
package import Linux
import SystemPackage

/// Tells systemd how the service fares (`sd_notify`).
package enum Notify {
    package enum Message: Hashable, Sendable {
        case ready
        /// One line for people, in `systemctl status`.
        case status(String)
        case stopping
        /// Always followed by ``ready`` once the reload is over, also when the new configuration was refused.
        case reloading
        case watchdog
        /// The service is not done yet and wants so much more time, from now on.
        case extendTimeout(milliseconds: Int64)
        /// The errno that the service fails with.
        case failed(errno: Int32)

        fileprivate var assignments: [String] {
            switch self {
            case .ready: ["READY=1"]
            case .status(let text): ["STATUS=" + Notify.oneLine(text)]
            case .stopping: ["STOPPING=1"]
            case .reloading: ["RELOADING=1", "MONOTONIC_USEC=\(Clocks.monotonicMicroseconds())"]
            case .watchdog: ["WATCHDOG=1"]
            case .extendTimeout(let milliseconds): ["EXTEND_TIMEOUT_USEC=\(milliseconds * 1_000)"]
            case .failed(let errno): ["ERRNO=\(errno)"]
            }
        }
    }

    /// Whether anybody wants to be told.
    package static var isAskedFor: Bool { unsafe getenv("NOTIFY_SOCKET") != nil }

    /// As much of a status as is sent: a datagram has its limit, and a line on the terminal too.
    private static let longestStatus = 1_000

    /// Sends the messages as one. False, and nothing sent, when nobody asked for them (`NOTIFY_SOCKET` is unset).
    @discardableResult
    package static func send(_ messages: Message...) throws(SystemError) -> Bool {
        try send(messages)
    }

    @discardableResult
    package static func send(_ messages: [Message]) throws(SystemError) -> Bool {
        let text = messages.flatMap(\.assignments).joined(separator: "\n")
        return try SystemError.check(unsafe sd_notify(0, text), "notify systemd") > 0
    }

    /// A line break would begin another assignment.
    private static func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(longestStatus)
                    .map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
