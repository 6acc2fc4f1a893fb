import CLinux

/// A listening Unix socket whose server waits for a limited time and then ends, because systemd keeps listening and
/// starts it again.
package struct ActivatedListener: ~Copyable {
    private let descriptor: Descriptor
    private let signals: SignalDescriptor

    /// Call ``SignalDescriptor/blockSignals()`` before.
    package init(adopting descriptor: consuming Descriptor) throws(SystemError) {
        let signals = try SignalDescriptor()
        self.descriptor = descriptor
        self.signals = signals
    }

    /// The next connection; nil when none came in time, or when a signal arrived. Connections queued by then go to the
    /// next server.
    package func next(within milliseconds: Int64) throws(SystemError) -> Descriptor? {
        guard Descriptor.ready([descriptor.raw, signals.raw], atMost: milliseconds) == [true, false] else { return nil }
        return Descriptor(
            adopting: try SystemError.check(clinux_unix_accept(descriptor.raw), "accept a connection"))
    }
}
