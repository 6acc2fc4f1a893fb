import CLinux

/// The kind of a socket that another process opened, to be checked before serving on it.
package struct SocketKind: Hashable, Sendable {
    package enum Family: Hashable, Sendable {
        case unix
        /// IPv4 or IPv6.
        case internet
        case other
    }

    package let family: Family
    /// For streams.
    package let isListening: Bool
    /// Bound to 127.0.0.0/8 or ::1, which no other machine reaches. Never true of a Unix socket.
    package let isOnLoopback: Bool

    package init(_ descriptor: Int32) throws(SystemError) {
        var isListening: Int32 = 0
        var isOnLoopback: Int32 = 0
        let family = try SystemError.check(
            unsafe clinux_socket_kind(descriptor, &isListening, &isOnLoopback), "learn what a socket is")
        self.family = family == CLINUX_SOCKET_UNIX ? .unix : family == CLINUX_SOCKET_INTERNET ? .internet : .other
        self.isListening = isListening != 0
        self.isOnLoopback = isOnLoopback != 0
    }
}
