/// A span of time in whole seconds, the only resolution that a JWT's times have.
public struct Seconds: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The number of seconds; negative for a span that points into the past.
    public let count: Int64

    /// A span of `count` seconds.
    public init(_ count: Int64) {
        self.count = count
    }

    /// The least span of whole seconds that is not shorter than so many milliseconds.
    package init(roundingUp milliseconds: Int64) {
        count = (milliseconds + 999) / 1_000
    }

    /// A span written as a literal: `let quiet: Seconds = 2`.
    public init(integerLiteral value: Int64) {
        count = value
    }

    /// Whether the left span is the shorter one.
    public static func < (left: Seconds, right: Seconds) -> Bool {
        left.count < right.count
    }

    /// The sum of two spans, clamped to 64 bits.
    public static func + (left: Seconds, right: Seconds) -> Seconds {
        let (sum, overflow) = left.count.addingReportingOverflow(right.count)
        return Seconds(overflow ? (right.count < 0 ? .min : .max) : sum)
    }

    /// The difference of two spans, clamped to 64 bits.
    public static func - (left: Seconds, right: Seconds) -> Seconds {
        let (difference, overflow) = left.count.subtractingReportingOverflow(right.count)
        return Seconds(overflow ? (right.count < 0 ? .max : .min) : difference)
    }

    /// The span divided, rounded towards zero.
    public static func / (left: Seconds, right: Int64) -> Seconds {
        Seconds(left.count / right)
    }
}
