package import AppleClientSecret

/// A moment on CLOCK_BOOTTIME, which runs on during suspend and which cannot be set, in milliseconds.
package struct BootTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: BootTime, right: BootTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    package static func + (moment: BootTime, span: Seconds) -> BootTime {
        let (product, overflow) = span.count.multipliedReportingOverflow(by: 1000)
        return moment.advanced(milliseconds: overflow ? (span.count < 0 ? .min : .max) : product)
    }

    /// The moment `span` milliseconds later, clamped to the range of 64 bits.
    package func advanced(milliseconds span: Int64) -> BootTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(span)
        return BootTime(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
    }

    /// The moment `interval` later, or up to a quarter of that earlier, so that work that began together does not repeat
    /// together.
    ///
    /// - Parameter jitter: from 0 to 1.
    package func after(_ interval: Seconds, spreadBy jitter: Double) -> BootTime {
        (self + interval).advanced(milliseconds: -Int64(Double(interval.count) * 250 * jitter))
    }

    /// The span from `earlier` to this moment in seconds, truncated to whole ones.
    package func seconds(since earlier: BootTime) -> Seconds {
        Seconds((milliseconds - earlier.milliseconds) / 1000)
    }
}
