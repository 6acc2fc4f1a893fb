/// What can be done with a descriptor without waiting.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    // epoll's numbers; CLinux asserts them.
    package static let readable = Readiness(rawValue: 0x1)
    package static let writable = Readiness(rawValue: 0x4)
    /// Told without being asked for.
    package static let failed = Readiness(rawValue: 0x8)
    /// Told without being asked for.
    package static let hungUp = Readiness(rawValue: 0x10)
    /// To wait with: what is told is told once, until ``Epoll/modify(_:tag:for:)`` asks for it again.
    package static let once = Readiness(rawValue: 1 << 30)
}
