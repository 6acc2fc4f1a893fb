import AppleClientSecret
import Model

/// When the next secret may be verified, of all clients together: one request to Apple runs at a time.
struct VerificationRateLimit: Sendable {
    /// The request that runs.
    private var running: JobID?
    private var limit = RateLimit.requestsToApple

    /// Whether a request may begin.
    func mayBegin(_ deadlines: inout Deadlines) -> Bool {
        running == nil && limit.admits(&deadlines)
    }

    mutating func began(_ job: JobID, at now: Now) {
        running = job
        limit.note(at: now.boot)
    }

    /// Records that a job has ended, whatever came of it.
    mutating func ended(_ job: JobID) {
        if running == job { running = nil }
    }

    func checkInvariants(next: JobID) -> [String] {
        running.map { $0 >= next } == true ? ["a request to Apple runs that never began"] : []
    }
}
