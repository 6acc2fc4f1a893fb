/// How an unsuccessful job ended, as systemd's signal `JobRemoved` says (org.freedesktop.systemd1(5)).
package enum JobResult: Hashable, Sendable {
    case failed
    /// The unit's own timeout, or the job's, ran out.
    case timeout
    /// Another job took its place, or a user canceled it.
    case canceled
    /// A unit that it needs failed.
    case dependency
    /// It did not fit the unit's state by then.
    case skipped
    case other(String)

    /// Nil when the job was done.
    init?(_ text: String) {
        switch text {
        case "done": return nil
        case "failed": self = .failed
        case "timeout": self = .timeout
        case "canceled": self = .canceled
        case "dependency": self = .dependency
        case "skipped": self = .skipped
        default: self = .other(text)
        }
    }
}
