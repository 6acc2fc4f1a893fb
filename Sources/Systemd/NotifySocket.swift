import Glibc
package import Linux

/// The datagram socket at which the service manager hears how the service fares (`NOTIFY_SOCKET`, sd_notify(3)).
///
/// Not by libsystemd's `sd_notify`: that waits for as long as the reader's queue is full, which is for ever where nobody
/// reads any more: a frozen manager, or a container's supervisor that only wanted to hear of READY.
package final class NotifySocket {
    private let socket: UnixDatagram
    /// As the environment names it.
    package let address: String

    /// Becomes writable when there is room again for what could not be sent.
    package var raw: Int32 { socket.descriptor.raw }

    /// Nil when nobody wants to be told.
    package init?() throws(SystemError) {
        guard let address = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        self.address = unsafe String(cString: address)
        socket = try UnixDatagram()
    }

    /// Sends the messages as one. False, and nothing sent, when there is no room for it now.
    package func send(_ messages: [Notify.Message]) throws(SystemError) -> Bool {
        try socket.send(Array(Notify.Message.text(of: messages).utf8), to: address)
    }

    /// Has systemd take a copy of a descriptor into its store. False, and nothing sent, when there is no room for it now.
    package func store(_ descriptor: borrowing Descriptor, as name: String) throws(SystemError) -> Bool {
        try socket.send(Array("FDSTORE=1\nFDNAME=\(name)".utf8), to: address, passing: descriptor.raw)
    }
}
