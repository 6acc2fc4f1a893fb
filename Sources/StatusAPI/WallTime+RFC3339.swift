package import AppleClientSecret

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
            // Days since the epoch by eras of 400 years that begin on the first of March, so that the leap day is the
            // last one of its year.
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
