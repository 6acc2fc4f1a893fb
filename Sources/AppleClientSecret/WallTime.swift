/// A moment of the wall clock in whole seconds since 1970-01-01T00:00:00Z, without leap seconds. This is the NumericDate of RFC
/// 7519, section 2, as Apple expects it (without a fraction).
public struct WallTime: Hashable, Comparable, Sendable {
    /// Seconds since the epoch.
    public let secondsSinceEpoch: Int64

    /// The moment `secondsSinceEpoch` seconds after the epoch.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Whether the left moment comes first.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }

    /// The moment `span` later, clamped to 64 bits.
    public static func + (moment: WallTime, span: Seconds) -> WallTime {
        WallTime(secondsSinceEpoch: (Seconds(moment.secondsSinceEpoch) + span).count)
    }

    /// The moment `span` earlier, clamped to 64 bits.
    public static func - (moment: WallTime, span: Seconds) -> WallTime {
        WallTime(secondsSinceEpoch: (Seconds(moment.secondsSinceEpoch) - span).count)
    }

    /// The span from the right moment to the left one; negative when the left one comes first.
    public static func - (left: WallTime, right: WallTime) -> Seconds {
        Seconds(left.secondsSinceEpoch) - Seconds(right.secondsSinceEpoch)
    }
}

extension WallTime: CustomStringConvertible {
    /// The moment in UTC as RFC 3339 writes it, `2026-11-21T04:31:00Z`; `@` and the seconds outside the years 0 to
    /// 9999, which that form cannot express.
    public var description: String { rfc3339 ?? "@\(secondsSinceEpoch)" }

    /// The moment in UTC as RFC 3339 writes it; nil outside the years 0 to 9999.
    package var rfc3339: String? {
        let day = Int64(86_400)
        let days = secondsSinceEpoch / day - (secondsSinceEpoch % day < 0 ? 1 : 0)
        guard let date = Self.civilDate(daysSinceEpoch: days) else { return nil }
        let second = secondsSinceEpoch - days * day
        var text = Array("0000-00-00T00:00:00Z".utf8)
        func put(_ number: Int64, endingAt last: Int) {
            var rest = number
            var index = last
            while rest > 0 {
                text[index] += UInt8(rest % 10)
                rest /= 10
                index -= 1
            }
        }
        put(date.year, endingAt: 3)
        put(date.month, endingAt: 6)
        put(date.day, endingAt: 9)
        put(second / 3600, endingAt: 12)
        put(second / 60 % 60, endingAt: 15)
        put(second % 60, endingAt: 18)
        return String(decoding: text, as: UTF8.self)
    }

    /// The proleptic Gregorian date of a day; nil outside the years 0 to 9999. It counts eras of 400 years (146,097 days) that
    /// begin on the first of March. So the leap day is the last one of its year.
    private static func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64)? {
        guard (-719_528..<2_932_897).contains(days) else { return nil }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension WallTime {
    /// The moment written in `text` as ``description`` writes it, `2026-11-21T04:31:00Z` or `@` and seconds; nil for
    /// any other form and for dates that do not exist.
    package init?(rfc3339 text: String) {
        if text.hasPrefix("@") {
            guard let seconds = Int64(text.dropFirst()) else { return nil }
            self.init(secondsSinceEpoch: seconds)
        } else {
            let fields = text.split { !("0"..."9").contains($0) }.compactMap { Int64($0) }
            guard text.utf8.count == 20, fields.count == 6 else { return nil }
            // Days since the epoch by eras of 400 years that begin on the first of March. So the leap day is the last one of its
            // year.
            let year = fields[1] <= 2 ? fields[0] - 1 : fields[0]
            let era = (year >= 0 ? year : year - 399) / 400
            let yearOfEra = year - era * 400
            let dayOfYear = (153 * (fields[1] + (fields[1] > 2 ? -3 : 9)) + 2) / 5 + fields[2] - 1
            let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
            self.init(secondsSinceEpoch: days * 86_400 + fields[3] * 3600 + fields[4] * 60 + fields[5])
        }
        guard description == text else { return nil }
    }
}
