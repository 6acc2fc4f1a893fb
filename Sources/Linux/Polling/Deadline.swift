/// Until when something is waited for. A suspend of the machine does not count: the program that is waited for is suspended too.
package struct Deadline: Hashable, Comparable, Sendable {
    /// On CLOCK_MONOTONIC.
    package let microseconds: Int64

    /// So many milliseconds from now on; a century at most.
    package init(in milliseconds: Int64) {
        microseconds = Clocks.monotonicMicroseconds() + min(max(milliseconds, 0), Self.longest) * 1_000
    }

    /// A century, in milliseconds: more could overflow.
    private static let longest: Int64 = 100 * 366 * 86_400 * 1_000

    /// How many milliseconds are left, of which one may have begun; 0 once it has passed.
    package var rest: Int64 { max(0, (microseconds - Clocks.monotonicMicroseconds() + 999) / 1_000) }

    package var hasPassed: Bool { rest == 0 }

    package static func < (left: Deadline, right: Deadline) -> Bool { left.microseconds < right.microseconds }
}
