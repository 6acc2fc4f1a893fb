import AppleClientSecret
import StatusAPI

/// The outcome of a renewal, in words.
enum RenewalWords {
    /// The line for one client; the caller prints a failure on standard error, every other outcome on standard output.
    static func line(for outcome: RenewalReport.Outcome, deliverOnly: Bool, now: WallTime) -> String {
        switch outcome.result {
        case "renewed", "delivered":
            let expiry = outcome.expiresAt.map { ", expires \(TimeWords.full($0, to: now))" } ?? ""
            let name = outcome.fingerprint.map { " (\($0))" } ?? ""
            return "\(outcome.client): \(outcome.result)\(name)\(expiry)"
        case "untouched":
            return "\(outcome.client): "
                + (deliverOnly ? "nothing was left to deliver" : "not due yet, nothing was done")
        default:
            return "\(outcome.client): \(outcome.error ?? outcome.result)"
        }
    }
}
