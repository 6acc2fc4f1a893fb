package import AppleClientSecret
internal import Failures
package import Model

/// An input to the core.
package enum Input: Hashable, Sendable {
    indirect case configured(Configuration)
    /// The configuration on disk was refused at the start for these reasons: the daemon uses the one last adopted.
    indirect case configuredAsBefore(Configuration, refused: [String])
    /// A resource may have changed: read it again.
    case changeNoticed(Resource)
    /// Whether the store reports changes (as a notice of ``Resource/store``) from now on: then it is read less often.
    case storeWatched(Bool)
    /// The service that asks the store has ended its connection: the next one may be another process.
    case storeServiceEnded
    /// When this machine's certificate for the store expires; nil if there is none.
    case storeCertificate(expiresAt: WallTime?)
    case finished(JobID, Result<Outcome, Failure>)
    /// A fault of the daemon as a whole, until ``faultCleared(_:)``, and when the daemon tries again by itself.
    case faultRaised(Failure, nextAttempt: BootTime? = nil)
    /// The fault with this code is gone.
    case faultCleared(Failure.Code)
    /// The state directory's content may be gone or replaced by another: everything must be written to it again.
    case stateLost
    /// The wall clock was set.
    case clockSet
    /// A request; no id if no caller waits for the answer (a SIGHUP).
    case asked(DaemonRequest, RequestID?)
    case stop
}
