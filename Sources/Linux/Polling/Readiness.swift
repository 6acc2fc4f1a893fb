/// What a descriptor can do without blocking.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    // epoll's numbers; CLinux asserts them.
    package static let readable = Readiness(rawValue: 0x1)
    package static let writable = Readiness(rawValue: 0x4)
    /// Reported without a request.
    package static let failed = Readiness(rawValue: 0x8)
    /// Reported without a request.
    package static let hungUp = Readiness(rawValue: 0x10)
    /// Input only: reports one event, then nothing until ``Epoll/modify(_:tag:for:)`` is called.
    package static let once = Readiness(rawValue: 1 << 30)
}
