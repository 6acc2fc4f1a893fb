import CLinux

/// Waits for many descriptors at once. It has no timeout: deadlines are timer descriptors.
package struct Epoll: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Itself readable while one of the watched descriptors is ready.
    package var raw: Int32 { descriptor.raw }

    package struct Event: Hashable, Sendable {
        /// The number that the descriptor was added with.
        package let tag: UInt64
        package let readiness: Readiness
    }

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_epoll_create(), "make an epoll descriptor"))
    }

    /// Watches a descriptor, level-triggered, until it is closed.
    package func add(
        _ watched: Int32, tag: UInt64, for readiness: Readiness = .readable
    ) throws(SystemError) {
        try SystemError.check(
            clinux_epoll_add(descriptor.raw, watched, readiness.rawValue, tag), "wait for a descriptor")
    }

    package func modify(_ watched: Int32, tag: UInt64, for readiness: Readiness) throws(SystemError) {
        try SystemError.check(
            clinux_epoll_modify(descriptor.raw, watched, readiness.rawValue, tag), "wait for a descriptor")
    }

    package func remove(_ watched: Int32) throws(SystemError) {
        try SystemError.check(clinux_epoll_remove(descriptor.raw, watched), "stop waiting for a descriptor")
    }

    /// Waits until a descriptor is ready; returns at least one event. Events that exceed a batch are left to the next call.
    package func wait() throws(SystemError) -> [Event] {
        let batch = Int(CLINUX_EPOLL_BATCH)
        var tags = [UInt64](repeating: 0, count: batch)
        var readiness = [UInt32](repeating: 0, count: batch)
        let count = try SystemError.check(
            unsafe clinux_epoll_wait(descriptor.raw, &tags, &readiness), "wait for events")
        return (0..<Int(count)).map { Event(tag: tags[$0], readiness: Readiness(rawValue: readiness[$0])) }
    }
}

/// The operations that a descriptor allows without blocking.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    // epoll's numbers; CLinux asserts them.
    package static let readable = Readiness(rawValue: 0x1)
    package static let writable = Readiness(rawValue: 0x4)
    /// Always reported, without an interest flag.
    package static let failed = Readiness(rawValue: 0x8)
    /// Always reported, without an interest flag.
    package static let hungUp = Readiness(rawValue: 0x10)
    /// Input only: reports one event, then nothing until ``Epoll/modify(_:tag:for:)`` is called.
    package static let once = Readiness(rawValue: 1 << 30)
}
