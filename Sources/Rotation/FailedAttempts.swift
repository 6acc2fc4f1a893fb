import AppleClientSecret
import Model

/// How often something has failed in a row, and when it is tried again.
struct FailedAttempts: Hashable, Sendable {
    let failures: Int
    let failure: Failure
    /// When the first of them was, as shown to users.
    let since: WallTime
    /// The same by the boot clock, because the wall clock may have been set since.
    let began: BootTime
    var notBefore: BootTime
    /// Whether a reload has come since. The work is then tried at once; everything that waits for it continues to wait.
    var isBeforeReload = false
    /// The job that failed last.
    let job: JobID
    /// Whether reading a file failed. Then a successful read ends the failure; otherwise only a write does.
    let wasObservation: Bool
    /// When the failure was last logged.
    let loggedAt: BootTime
    /// Whether it was logged: a failure in another log event is not.
    let isLogged: Bool
}
