package import AppleClientSecret

/// Durations as people write them: `45s`, `30m`, `12h`, `90d`, `1d12h`.
package enum DurationText {
    private static let units: [(letter: UInt8, seconds: Int64)] = [
        (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3600), (UInt8(ascii: "m"), 60), (UInt8(ascii: "s"), 1),
    ]

    /// The span written in `text`: numbers, each with its unit, from days down to seconds. Nil otherwise, also for `max` and
    /// above 292 billion years.
    package static func parse(_ text: some StringProtocol) -> Seconds? {
        var total: Int64 = 0
        var number: Int64?
        var next = 0
        for byte in text.utf8 {
            if byte.isASCIIDigit {
                let (scaled, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
                let (sum, overflowToo) = scaled.addingReportingOverflow(Int64(byte - 48))
                if overflow || overflowToo { return nil }
                number = sum
            } else {
                guard let count = number, let unit = units[next...].firstIndex(where: { $0.letter == byte }) else {
                    return nil
                }
                let (span, overflow) = count.multipliedReportingOverflow(by: units[unit].seconds)
                let (sum, overflowToo) = total.addingReportingOverflow(span)
                if overflow || overflowToo { return nil }
                total = sum
                number = nil
                next = unit + 1
            }
        }
        return number == nil && next > 0 ? Seconds(total) : nil
    }

    /// The lifetime written in `text`, a span or `max`; nil also for one that may not be minted for this kind.
    package static func lifetime(_ text: some StringProtocol, of kind: TokenKind = .signIn) -> Lifetime? {
        text == "max" ? .longest(of: kind) : parse(text).flatMap { Lifetime(seconds: $0, of: kind) }
    }

    /// The span in its shortest form, `1d12h`; with a `-` before it when it is negative.
    package static func text(_ span: Seconds) -> String {
        var rest = span.count.magnitude
        var text = ""
        for unit in units {
            let (count, remainder) = rest.quotientAndRemainder(dividingBy: UInt64(unit.seconds))
            if count > 0 { text += "\(count)\(Unicode.Scalar(unit.letter))" }
            rest = remainder
        }
        return text.isEmpty ? "0s" : (span.count < 0 ? "-" : "") + text
    }
}
