import AppleClientSecret
internal import Failures
import Model

/// How soon failed work is tried again. The pause doubles with every failure, up to a bound: how long a fixed cause may
/// go unnoticed.
enum Retry {
    /// For a key or a disk: an administrator fixes it and then watches for the effect.
    static let localBound: Seconds = 60
    /// For a hook, a unit's job or a question to Apple: each try costs other programs something.
    static let remoteBound: Seconds = 900
    /// For a unit whose job failed three times: it needs a person.
    static let unitBound: Seconds = 3600
    /// For a password that etcd refuses: each try costs a member a tenth of a second of its processor, and ten thousand
    /// machines may have been given wrong ones.
    static let loginBound: Seconds = 3600
    /// For an action whose application holds a critical or expired secret: users cannot log in, or soon will not be
    /// able to, and once the cause is fixed they must not wait a quarter of an hour more.
    static let emergencyBound: Seconds = 60
    /// The longest `Retry-After` that counts for a read of a target, and for a push while the secret there is critical: an
    /// hour, as long as there is between two reads.
    static let boundOfRest: Seconds = 3600
    /// A file whose last read failed is read again this soon after a change notice, but no sooner, in case another
    /// program changes it all the time.
    static let observationPace: Seconds = 1
    /// A file that another program changed while it was merged is merged again this soon after a change notice.
    static let mergePace: Seconds = 5
    /// A lasting failure is logged again after this long.
    static let reminder: Seconds = 3600

    /// The pause after the `failures`-th failure in a row, in milliseconds.
    ///
    /// - Parameters:
    ///   - isEmergency: whether an application that waits for the action holds a critical or expired secret.
    ///   - jitter: from 0 to 1; up to a fifth of the pause is taken off, never added, so that the bounds hold.
    static func pause(
        of resource: Resource, action: Action?, failure: Failure.Code, failures: Int, isEmergency: Bool = false,
        jitter: Double
    ) -> Int64 {
        let isTired = needsPerson(action, failure, failures: failures)
        let (first, bound): (Int64, Seconds) =
            switch resource {
            // The service that asks Apple is the administrator's to start.
            case .verification: (30, failure == .verifierMissing ? localBound : remoteBound)
            // The store's service paces itself and says for how long, so the pause is short. But each try with a refused password
            // starts that service again, and costs etcd a check of the password.
            case .store, .share: (1, failure == .storeCredentialsRefused ? loginBound : localBound)
            // Nothing is late without it, and ten thousand machines may fail for one reason.
            case .report, .fleet, .rollout: (30, remoteBound)
            // The service that asks the API is the administrator's to start, and its configuration to write.
            case .target: (5, failure.traits.contains(.ofPushService) ? localBound : remoteBound)
            case .action, .stateChangeAction: (30, isTired ? unitBound : isEmergency ? emergencyBound : remoteBound)
            default: (1, localBound)
            }
        let doubled = isTired ? bound.count : min(bound.count, first << Int64(min(max(failures - 1, 0), 12)))
        return doubled * 1000 - Int64(Double(doubled) * 200 * jitter)
    }

    /// Whether a unit's job has failed so often that it is tried hourly, even in an emergency: each try stops and
    /// starts an application, and the administrator who fixes the unit starts it, which makes it read the new secret.
    static func needsPerson(_ action: Action?, _ failure: Failure.Code, failures: Int) -> Bool {
        switch action {
        case .unit, .signal: failures >= 3 && failure.retry == .sparingly
        case .exec, .redeploy, nil: false
        }
    }
}
