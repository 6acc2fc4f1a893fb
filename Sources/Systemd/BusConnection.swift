import CLibsystemd
import Glibc
import Linux
import SystemPackage

/// A connection to systemd, through the message bus or direct, which lasts for one delivery.
///
/// The rules are:
/// - Every user may send this connection any message, because a match rule does not hold back a signal that is addressed
///   to it. So messages are taken only from the bus itself and from the connection that owned systemd's name when this
///   one was opened. The bus writes the sender into each message.
/// - When that owner changes (`systemctl daemon-reexec`), systemd counts as unreachable here: a new connection finds the
///   new owner.
/// - Only ``receive()`` waits, and never past the deadline or the cancellation, however many messages come.
/// - It is closed with this value, since a subscriber is woken by the jobs of all units.
@safe struct BusConnection: ~Copyable {
    /// The address of systemd.
    enum Address: Hashable, Sendable {
        /// The system's message bus.
        case system
        /// A message bus at this socket.
        case bus(String)
        /// A socket on which systemd itself answers, without a message bus in between.
        case direct(String)
    }

    /// Whether it goes through a message bus, on which names have owners and signals need match rules.
    let isBus: Bool
    private let bus: OpaquePointer
    private let cancel: EventCounter?
    /// Until when it waits.
    var deadline: Deadline
    /// The unique name (`:1.2`) of the connection that owns systemd's name; nil on a direct connection.
    private var owner: String?

    /// The well-known name of systemd.
    static let systemd = "org.freedesktop.systemd1"
    /// The bus itself as a sender: a name that no connection can own.
    static let driver = "org.freedesktop.DBus"

    /// - Parameters:
    ///   - deadline: until when the connection may be used.
    ///   - cancel: ends every wait when it is raised.
    static func open(to address: Address, deadline: Deadline, cancel: EventCounter?) throws(UnitError) -> BusConnection
    {
        var made: OpaquePointer?
        let result: Int32
        var isBus = true
        switch address {
        case .system:
            result = unsafe sd_bus_open_system(&made)
        case .bus(let path):
            result = unsafe connect(path, isBus: true, into: &made)
        case .direct(let path):
            isBus = false
            result = unsafe connect(path, isBus: false, into: &made)
        }
        guard result >= 0, let made = unsafe made else {
            unsafe sd_bus_close_unref(made)
            throw .unreachable(Errno(rawValue: -result))
        }
        var connection = unsafe BusConnection(adopting: made, isBus, deadline, cancel)
        if isBus { try connection.findOwner() }
        return connection
    }

    private init(adopting bus: OpaquePointer, _ isBus: Bool, _ deadline: Deadline, _ cancel: EventCounter?) {
        unsafe self.bus = bus
        self.isBus = isBus
        self.deadline = deadline
        self.cancel = cancel
        owner = nil
    }

    /// Notes which connection owns systemd's name. It first asks the bus to report changes, so that none is missed.
    private mutating func findOwner() throws(UnitError) {
        let rule =
            "type='signal',sender='\(Self.driver)',interface='\(Self.driver)',member='\(Self.ownerChanged)',"
            + "arg0='\(Self.systemd)'"
        if let error = try reply(to: send("AddMatch", of: .bus, [.text(rule)])).error { throw UnitError(error) }
        while owner == nil {
            let reply = try reply(to: send("GetNameOwner", of: .bus, [.text(Self.systemd)]))
            if reply.isError("org.freedesktop.DBus.Error.NameHasNoOwner") {
                // A bus that was started by this very connection: systemd comes to it a moment later.
                _ = try receive()
                continue
            }
            if let error = reply.error { throw UnitError(error) }
            owner = try reply.text()
        }
    }

    private static let ownerChanged = "NameOwnerChanged"

    /// The reply, which may be an error, to a call before which nothing else is of interest.
    private func reply(to cookie: UInt64) throws(UnitError) -> BusMessage {
        while true {
            let message = try receive()
            if message.answers == cookie { return message }
        }
    }

    private static func connect(_ path: String, isBus: Bool, into made: inout OpaquePointer?) -> Int32 {
        var result = unsafe sd_bus_new(&made)
        if result >= 0 { result = unsafe sd_bus_set_address(made, "unix:path=" + path) }
        if result >= 0, isBus { result = unsafe sd_bus_set_bus_client(made, 1) }
        if result >= 0 { result = unsafe sd_bus_start(made) }
        return result
    }

    deinit {
        unsafe sd_bus_close_unref(bus)
    }

    /// The destination of a method call: an object of systemd, or the bus, and an interface.
    struct Target {
        let path: String
        let interface: String
        /// Whether it is an object of the bus itself, and not of systemd.
        var isBus = false

        /// The message bus itself.
        static let bus = Target(path: "/org/freedesktop/DBus", interface: driver, isBus: true)
    }

    /// Sends a method call; its number, which the reply has.
    func send(_ member: String, of target: Target, _ arguments: [BusMessage.Argument]) throws(UnitError) -> UInt64 {
        var made: OpaquePointer?
        let destination = target.isBus ? Self.driver : owner ?? Self.systemd
        let result = unsafe sd_bus_message_new_method_call(
            bus, &made, destination, target.path, target.interface, member)
        guard result >= 0, let made = unsafe made else { throw .unreachable(Errno(rawValue: -result)) }
        let message = unsafe BusMessage(adopting: made)
        for argument in arguments { try message.append(argument) }
        var cookie: UInt64 = 0
        let sent = unsafe sd_bus_send(bus, message.raw, &cookie)
        guard sent >= 0 else { throw .unreachable(Errno(rawValue: -sent)) }
        return cookie
    }

    /// Waits for the next message of systemd or of the bus.
    func receive() throws(UnitError) -> BusMessage {
        while true {
            var received: OpaquePointer?
            let progress = unsafe sd_bus_process(bus, &received)
            guard progress >= 0 else { throw .unreachable(Errno(rawValue: -progress)) }
            if let received = unsafe received {
                let message = unsafe BusMessage(adopting: received)
                if try isBelieved(message) { return message }
            }
            // Also between messages: a program that floods this connection must not hold it past its time.
            try wait(isIdle: progress == 0)
        }
    }

    /// Whether a message is from systemd or the bus. Throws when systemd has left the bus.
    private func isBelieved(_ message: borrowing BusMessage) throws(UnitError) -> Bool {
        guard isBus else { return true }
        let sender = message.sender
        guard sender == Self.driver else { return sender != nil && sender == owner }
        if owner != nil, message.isSignal(Self.driver, Self.ownerChanged), try message.text() == Self.systemd {
            // The signal of the present owner's coming may be read after the reply that names it.
            _ = try message.text()
            if try message.text() != owner { throw .unreachable(.socketNotConnected) }
        }
        return true
    }

    /// Checks that time is left, and waits for something to do if there is nothing.
    private func wait(isIdle: Bool) throws(UnitError) {
        let descriptor = unsafe sd_bus_get_fd(bus)
        // Negative once the connection is lost.
        let events = unsafe sd_bus_get_events(bus)
        guard descriptor >= 0, events >= 0 else { throw .unreachable(.socketNotConnected) }
        guard !deadline.hasPassed else { throw .timedOut }
        // On the same clock.
        var own = UInt64.max
        _ = unsafe sd_bus_get_timeout(bus, &own)
        let until = min(deadline.microseconds, Int64(clamping: own))
        var watched = [
            pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: cancel?.raw ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = isIdle ? Int32(clamping: max(0, until - Clocks.monotonicMicroseconds()) / 1_000 + 1) : 0
        guard unsafe poll(&watched, 2, milliseconds) >= 0 || errno == EINTR else {
            throw .unreachable(Errno(rawValue: errno))
        }
        if watched[1].revents != 0 { throw .cancelled }
    }
}
