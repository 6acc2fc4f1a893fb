import Glibc
package import Linux

/// A service's reports to systemd (sd_notify(3)).
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
        /// The errno that the service fails with.
        case failed(errno: Int32)

        private var assignments: [String] {
            switch self {
            case .ready: ["READY=1"]
            case .status(let text): ["STATUS=" + Notify.oneLine(text)]
            case .stopping: ["STOPPING=1"]
            case .reloading(let since): ["RELOADING=1", "MONOTONIC_USEC=\(since)"]
            case .watchdog: ["WATCHDOG=1"]
            case .failed(let errno): ["ERRNO=\(errno)"]
            }
        }

        /// The variable that it sets, the same for each message of its kind.
        var variable: Substring { assignments[0].prefix { $0 != "=" } }

        /// The messages as systemd reads them, one assignment a line.
        static func text(of messages: [Message]) -> String {
            messages.flatMap(\.assignments).joined(separator: "\n")
        }
    }

    /// The longest status that is sent, in characters of up to four bytes each. systemd ignores a datagram of more than 4,096
    /// bytes, and the rest of one takes less than 90.
    package static let longestStatus = 1_000

    /// Whether systemd shows `status` unchanged: it removes backslashes.
    package static func keeps(_ status: String) -> Bool { !status.contains("\\") && oneLine(status) == status }

    /// A line break would begin another assignment, and a backslash at the end would join the next one to this.
    private static func oneLine(_ text: String) -> String {
        var scalars = text.unicodeScalars.prefix(longestStatus)
            .map { $0.properties.generalCategory == .control ? " " : $0 }
        while scalars.last == "\\" { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// The datagram socket on which the service manager receives ``Notify`` messages (`NOTIFY_SOCKET`, sd_notify(3)).
///
/// Not libsystemd's `sd_notify`, which blocks while the reader's queue is full. It blocks for ever if nothing reads, such as a
/// frozen manager, or a container's supervisor that only waited for READY.
package final class NotifySocket {
    private let socket: UnixDatagram
    /// The value of `NOTIFY_SOCKET`.
    private let address: String

    /// Becomes writable when there is room again for unsent messages.
    package var raw: Int32 { socket.descriptor.raw }

    /// Nil when `NOTIFY_SOCKET` is not set.
    package init?() throws(SystemError) {
        guard let address = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        self.address = unsafe String(cString: address)
        socket = try UnixDatagram()
    }

    /// Sends the messages as one. Returns false, with nothing sent, when there is no room now.
    package func send(_ messages: [Notify.Message]) throws(SystemError) -> Bool {
        try socket.send(Array(Notify.Message.text(of: messages).utf8), to: address)
    }

    /// Has systemd hold a copy of a connection until both of its ends are shut down. systemd passes it to the service's next
    /// process when this one dies: it is then among ``PassedSockets`` with this name. The unit has to allow it
    /// (`FileDescriptorStoreMax=`). Returns false, with nothing sent, when there is no room now.
    package func store(_ descriptor: borrowing Descriptor, as name: String) throws(SystemError) -> Bool {
        try socket.send(Array("FDSTORE=1\nFDNAME=\(name)".utf8), to: address, passing: descriptor.raw)
    }
}
