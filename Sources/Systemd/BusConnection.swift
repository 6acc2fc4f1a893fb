import CLibsystemd
import Glibc
import Linux
import SystemPackage

/// A connection to the message bus, or to systemd itself, for the length of one delivery.
///
/// It is closed with this value, since a subscriber is woken by the jobs of all units. Only ``receive()`` waits, and
/// never past the deadline or the cancellation, so that no thread waits for a bus that hangs.
@safe struct BusConnection: ~Copyable {
    /// Where to reach systemd.
    enum Address: Hashable, Sendable {
        /// The system's message bus.
        case system
        /// A socket on which systemd itself answers, without a message bus in between.
        case direct(String)
    }

    /// Whether it goes through a message bus, where names have owners and signals need match rules.
    let isBus: Bool
    private let bus: OpaquePointer
    private let cancel: EventCounter?
    /// On CLOCK_MONOTONIC, in microseconds.
    private let deadline: Int64

    /// - Parameters:
    ///   - milliseconds: how long the connection may be used.
    ///   - cancel: ends every wait when it is raised.
    init(to address: Address, milliseconds: Int64, cancel: EventCounter?) throws(BusError) {
        var made: OpaquePointer?
        let result: Int32
        switch address {
        case .system:
            result = unsafe sd_bus_open_system(&made)
        case .direct(let path):
            result = unsafe Self.openDirect(path, &made)
        }
        guard result >= 0, let made = unsafe made else {
            unsafe sd_bus_close_unref(made)
            throw .unreachable(Errno(rawValue: -result))
        }
        unsafe bus = made
        isBus = address == .system
        self.cancel = cancel
        deadline = Clocks.monotonicMicroseconds() + milliseconds * 1_000
    }

    private static func openDirect(_ path: String, _ made: inout OpaquePointer?) -> Int32 {
        var result = unsafe sd_bus_new(&made)
        if result >= 0 { result = unsafe sd_bus_set_address(made, "unix:path=" + path) }
        if result >= 0 { result = unsafe sd_bus_start(made) }
        return result
    }

    deinit {
        unsafe sd_bus_close_unref(bus)
    }

    /// The destination of a method call: a peer, its object and an interface.
    struct Target {
        let destination: String
        let path: String
        let interface: String

        /// The message bus itself.
        static let bus = Target(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
    }

    /// Sends a method call; its number, which the reply has.
    func send(_ member: String, of target: Target, _ arguments: [BusMessage.Argument]) throws(BusError) -> UInt64 {
        var made: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            bus, &made, target.destination, target.path, target.interface, member)
        guard result >= 0, let made = unsafe made else { throw .unreachable(Errno(rawValue: -result)) }
        let message = unsafe BusMessage(adopting: made)
        for argument in arguments { try message.append(argument) }
        var cookie: UInt64 = 0
        let sent = unsafe sd_bus_send(bus, message.raw, &cookie)
        guard sent >= 0 else { throw .unreachable(Errno(rawValue: -sent)) }
        return cookie
    }

    /// Waits for the next message.
    func receive() throws(BusError) -> BusMessage {
        while true {
            var received: OpaquePointer?
            let progress = unsafe sd_bus_process(bus, &received)
            guard progress >= 0 else { throw .unreachable(Errno(rawValue: -progress)) }
            if let received = unsafe received { return unsafe BusMessage(adopting: received) }
            if progress == 0 { try wait() }
        }
    }

    private func wait() throws(BusError) {
        let descriptor = unsafe sd_bus_get_fd(bus)
        // Negative once the connection is lost.
        let events = unsafe sd_bus_get_events(bus)
        guard descriptor >= 0, events >= 0 else { throw .unreachable(.socketNotConnected) }
        let now = Clocks.monotonicMicroseconds()
        guard now < deadline else { throw .timedOut }
        var own = UInt64.max
        _ = unsafe sd_bus_get_timeout(bus, &own)
        let until = min(deadline, Int64(clamping: own))
        var watched = [
            pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: cancel?.raw ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(clamping: max(0, until - now) / 1_000 + 1)
        guard unsafe poll(&watched, 2, milliseconds) >= 0 || errno == EINTR else {
            throw .unreachable(Errno(rawValue: errno))
        }
        if watched[1].revents != 0 { throw .cancelled }
    }
}
