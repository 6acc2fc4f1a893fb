import Glibc
package import Linux

/// The datagram socket on which the service manager receives ``Notify`` messages (`NOTIFY_SOCKET`, sd_notify(3)).
///
/// Not libsystemd's `sd_notify`, which blocks while the reader's queue is full: for ever where nobody reads any more,
/// as a frozen manager, or a container's supervisor that only waited for READY.
package final class NotifySocket {
    private let socket: UnixDatagram
    /// The value of `NOTIFY_SOCKET`.
    package let address: String

    /// Becomes writable when there is room again for what could not be sent.
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

    /// Has systemd store a copy of a descriptor. Returns false, with nothing sent, when there is no room now.
    package func store(_ descriptor: borrowing Descriptor, as name: String) throws(SystemError) -> Bool {
        try socket.send(Array("FDSTORE=1\nFDNAME=\(name)".utf8), to: address, passing: descriptor.raw)
    }
}
