/// Keeps questions to Apple apart, which publishes no limit: six in a minute at most.
package struct QuestionPace: Sendable {
    package static let limit = 6
    /// In milliseconds.
    package static let minute: Int64 = 60_000

    /// When the last questions were asked, ``limit`` at most.
    private var asked: [Int64] = []

    package init() {}

    /// How long to wait at `now` before the next question, which counts as asked then; both in milliseconds of a clock
    /// that cannot be set.
    package mutating func pause(at now: Int64) -> Int64 {
        let pause = asked.count < Self.limit ? 0 : max(asked[0] + Self.minute - now, 0)
        asked = (asked + [now + pause]).suffix(Self.limit)
        return pause
    }
}
