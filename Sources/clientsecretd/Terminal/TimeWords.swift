import AppleClientSecret
import StatusAPI

/// Spans and moments in words.
enum TimeWords {
    /// `74 seconds`, `3 minutes`, `12 hours`, `89 days`: rounded down, in the largest unit that gives two or more; but no
    /// `60 minutes`.
    static func span(_ span: Seconds) -> String {
        let count = span.count.magnitude
        let (number, unit) =
            switch count {
            case 60: (count / 60, "minute")
            case ..<120: (count, "second")
            case 3_600..<3_660: (count / 3_600, "hour")
            case ..<7_200: (count / 60, "minute")
            case 86_400..<90_000: (count / 86_400, "day")
            case ..<172_800: (count / 3_600, "hour")
            default: (count / 86_400, "day")
            }
        return "\(number) \(unit)\(number == 1 ? "" : "s")"
    }

    /// `in 89 days`, `3 minutes ago` or `now`.
    static func relative(_ moment: WallTime, to now: WallTime) -> String {
        let distance = moment - now
        if distance == 0 { return "now" }
        return distance > 0 ? "in \(span(distance))" : "\(span(distance)) ago"
    }

    /// The same of a moment that has been: one that is ahead was read from a clock that was wrong then, or is another
    /// machine's.
    static func past(_ moment: WallTime, to now: WallTime) -> String {
        if moment - now > SecretForm.clockTolerance { return "by a clock that is ahead" }
        return relative(min(moment, now), to: now)
    }

    /// `expires in 89 days (2027-02-19T04:31:00Z)`, or `expired 3 minutes ago (…)`.
    static func expiry(_ moment: WallTime, to now: WallTime) -> String {
        "\(moment < now ? "expired" : "expires") \(full(moment, to: now))"
    }

    /// `in 89 days (2027-02-19T04:31:00Z)`.
    static func full(_ moment: WallTime, to now: WallTime) -> String {
        "\(relative(moment, to: now)) (\(moment))"
    }

    /// `since 2026-11-21T04:31:00Z (3 minutes ago)`.
    static func since(_ moment: WallTime, to now: WallTime) -> String {
        "since \(moment) (\(past(moment, to: now)))"
    }

    /// `text` with every moment given in words as well: `since 2026-11-21T04:31:00Z (3 minutes ago)`.
    static func annotated(_ text: String, now: WallTime) -> String {
        var before: Substring = ""
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            defer { before = word }
            let bare = word.prefix { !";,.)".contains($0) }
            guard let moment = WallTime(rfc3339: String(bare)) else { return String(word) }
            let words = before == "since" ? past(moment, to: now) : relative(moment, to: now)
            return "\(moment) (\(words))" + word.dropFirst(bare.count)
        }.joined(separator: " ")
    }
}
