import CLinux

/// The signals that a daemon acts upon.
package enum Signal: Int32, Sendable {
    case hangUp = 1
    case interrupt = 2
    case terminate = 15
    case childEnded = 17
}

/// Signals as a descriptor: the loop reads them when it is ready, and they interrupt no system call.
package struct SignalDescriptor: ~Copyable {
    private let descriptor: Descriptor

    /// The descriptor to wait for.
    package var raw: Int32 { descriptor.raw }

    /// Blocks the signals of ``Signal`` for this thread and those it starts. Ignores all others that would end the process
    /// without its own fault or a person's wish, such as SIGUSR1 and SIGPIPE.
    ///
    /// Call before any other thread starts: one that does not block them lets them end the process.
    package static func blockSignals() throws(SystemError) {
        try SystemError.check(clinux_signals_block(), "block signals")
    }

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_signals_descriptor(), "take signals in"))
    }

    /// Signals since the last call, each with the user that sent it; nil if the kernel does not vouch for one. Several of one
    /// kind may come as one, with the first sender.
    package func read() throws(SystemError) -> [(signal: Signal, sender: UInt32?)] {
        var signals: [(Signal, UInt32?)] = []
        while true {
            var user = UInt32.max
            let number = try SystemError.check(
                unsafe clinux_signals_read(descriptor.raw, &user), "read a signal")
            if number == 0 { return signals }
            if let signal = Signal(rawValue: number) { signals.append((signal, user == .max ? nil : user)) }
        }
    }
}
