internal import AppleClientSecret
internal import Rotation

extension Span {
    /// A duration in `range`; the mistake says what is wrong with the text.
    static func read(_ text: String, examples: String, in range: ClosedRange<Seconds>) throws(Mistake) -> Seconds {
        guard let span = parse(text) else {
            if !text.isEmpty, text.utf8.count <= 10, text.utf8.allSatisfy({ (48...57).contains($0) }) {
                throw Mistake("\"\(text)\" has no unit; write \(text)s, \(text)m, \(text)h or \(text)d")
            }
            throw Mistake("\(quoted(text)) is not a duration; write it like \(examples)")
        }
        guard span >= range.lowerBound else {
            throw Mistake("\(quoted(text)) is too short; write \(Span.text(range.lowerBound)) or more")
        }
        guard span <= range.upperBound else {
            throw Mistake("\(quoted(text)) is too long; write \(Span.text(range.upperBound)) or less")
        }
        return span
    }

    static func readLifetime(_ text: String) throws(Mistake) -> Lifetime {
        if let lifetime = lifetime(text) { return lifetime }
        guard let span = parse(text), span > Lifetime.maximum.seconds else {
            if text.lowercased() == "max" { throw Mistake("\(quoted(text)) is not a duration; did you mean \"max\"?") }
            _ = try read(text, examples: "90d, 12h, 1d12h or max", in: Lifetime.minimum...Lifetime.maximum.seconds)
            throw Mistake("\(quoted(text)) is not a duration; write it like 90d, 12h, 1d12h or max")
        }
        throw Mistake(
            "\(quoted(text)) is longer than Apple accepts; write \(Span.text(Lifetime.maximum.seconds)) or less, or max"
        )
    }

    static func readRenewBefore(_ text: String) throws(Mistake) -> Seconds {
        try read(text, examples: "30d, 12h or 1d12h", in: 1...Lifetime.maximum.seconds)
    }

    /// At most a day: a hook that runs longer is hanging.
    static func readTimeout(_ text: String) throws(Mistake) -> Seconds {
        try read(text, examples: "45s or 5m", in: 1...86_400)
    }
}
