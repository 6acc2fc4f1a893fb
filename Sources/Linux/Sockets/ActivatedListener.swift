/// A listening socket whose server waits for a limited time and then ends, because systemd keeps listening and starts it again.
package struct ActivatedListener: ~Copyable {
    private let socket: ListeningSocket
    private let signals: SignalDescriptor

    /// Call ``SignalDescriptor/blockSignals()`` before.
    package init(_ socket: ListeningSocket) throws(SystemError) {
        signals = try SignalDescriptor()
        self.socket = socket
    }

    /// The next connection; nil when none came in time, or when a signal arrived. Connections queued by then go to the
    /// next server.
    package func next(within milliseconds: Int64) throws(SystemError) -> Descriptor? {
        let deadline = Deadline(in: milliseconds)
        while Descriptor.ready([socket.raw, signals.raw], atMost: deadline.rest) == [true, false] {
            if let connection = try socket.accept() { return connection }
        }
        return nil
    }
}
