package import AppleClientSecret
internal import Failures
import Model

/// How soon failed work is tried again. The pause doubles with every failure, up to a bound: how long a fixed cause may go
/// unnoticed. ``Jobs/retry(_:within:at:)`` ends the pause, or shortens it.
package enum RetryPause {
    /// For a key or a disk: an administrator fixes it and then watches for the effect.
    static let localBound: Seconds = 60
    /// For a hook, a unit's job or a request to Apple: each try costs other programs something.
    static let remoteBound: Seconds = 900
    /// For a unit whose job failed three times: it needs a person.
    static let unitBound: Seconds = 3600
    /// For a password that etcd refuses. Each try costs a member a tenth of a second of its processor, and ten thousand
    /// machines may have wrong ones.
    static let loginBound: Seconds = 3600
    /// For an action whose application holds a critical or expired secret. Users cannot log in, or soon will not be able to.
    /// Once the cause is fixed they must not wait another quarter of an hour.
    static let emergencyBound: Seconds = 60
    /// The longest `Retry-After` that counts for a read of a target, a push while the secret there is critical, and the
    /// store: an hour, as long as there is between two reads of a target.
    static let boundOfRest: Seconds = 3600
    /// The longest pause that the store's service may request while a client that receives from the store is critical: the
    /// service's own, except after a failed login.
    static let storeEmergencyBound: Seconds = 300

    /// The facts that the pause depends on, next to the resource and its failure.
    struct Circumstances {
        /// How often it has failed in a row.
        var failures: Int
        /// The action that was run.
        var action: Action?
        /// Whether an application that waits for the action, or reads the target, holds a critical or expired secret, or none.
        /// For the store: whether a client that receives from it does.
        var isEmergency = false
        /// Whether the cause may be gone already: then there is no pause.
        var isAtOnce = false
        /// Whether an API was only read.
        var isReadOfTarget = false
        /// From 0 to 1; up to a fifth of the pause is taken off, never added, so that the bounds hold.
        var jitter = 0.0
    }

    /// The pause after a failure, in milliseconds.
    static func pause(of resource: Resource, after failure: Failure, _ circumstances: Circumstances) -> Int64 {
        let isForPerson = needsPerson(circumstances.action, failure.code, failures: circumstances.failures)
        let (first, bound): (Seconds, Seconds) =
            switch resource {
            // The service that asks Apple is the administrator's to start.
            case .verification: (30, failure.code == .verifierMissing ? localBound : remoteBound)
            case .store, .share: (1, boundOfStore(failure.code))
            // Nothing is late without it, and ten thousand machines may fail for one reason.
            case .report, .fleet, .rollout: (30, remoteBound)
            // The service that asks the API is the administrator's to start, and its configuration to write.
            case .target: (5, failure.code.traits.contains(.ofPushService) ? localBound : remoteBound)
            case .action, .stateChangeAction:
                (30, isForPerson ? unitBound : circumstances.isEmergency ? emergencyBound : remoteBound)
            default: (1, localBound)
            }
        let doubled = (isForPerson ? bound : doubled(first, failures: circumstances.failures, atMost: bound)).count
        let pause =
            circumstances.isAtOnce ? 0 : doubled * 1000 - Int64(Double(doubled) * 200 * circumstances.jitter)
        guard let rest = failure.retryAfter else { return pause }
        let isEmergency = circumstances.isEmergency
        let longest: Seconds =
            if resource.isOfStore {
                // The store's service runs as another user, so its answers prove nothing. By its own rules it never asks for
                // more.
                isEmergency ? storeEmergencyBound : boundOfRest
            } else {
                // The next push to the same target waits as long. So the pause is bounded where the API refused a mere read,
                // and while a secret is critical.
                isEmergency || circumstances.isReadOfTarget ? boundOfRest : rest
            }
        return max(pause, min(rest, longest).count * 1000)
    }

    /// The pause after the `failures`-th failure in a row of something local, without jitter.
    package static func localPause(failures: Int) -> Seconds { doubled(1, failures: failures, atMost: localBound) }

    private static func doubled(_ first: Seconds, failures: Int, atMost bound: Seconds) -> Seconds {
        min(bound, Seconds(first.count << Int64(min(max(failures - 1, 0), 12))))
    }

    /// The store's service paces itself and reports for how long, so the pause is short. But each try with a refused password
    /// starts that service again, and costs etcd a check of the password.
    private static func boundOfStore(_ code: Failure.Code) -> Seconds {
        code == .storeCredentialsRefused ? loginBound : localBound
    }

    /// The longest time without a request to the store while a client that receives from it is critical.
    static func longestPause(inEmergencyOfStoreAfter failed: FailedAttempts) -> Seconds {
        max(storeEmergencyBound, doubled(1, failures: failed.failures, atMost: boundOfStore(failed.failure.code)))
    }

    /// The longest wait of work whose failure keeps an application from a secret while its own is critical or expired. An API
    /// that requests a pause gets it, but not for ever.
    static func longestPause(inEmergencyAfter failure: Failure) -> Seconds {
        failure.retryAfter == nil ? emergencyBound : boundOfRest
    }

    /// Whether a unit's job has failed so often that it is tried hourly, even in an emergency. Each try stops and starts an
    /// application. The administrator who fixes the unit starts it, which makes it read the new secret.
    static func needsPerson(_ action: Action?, _ failure: Failure.Code, failures: Int) -> Bool {
        switch action {
        case .unit, .signal: failures >= 3 && failure.retry == .sparingly
        case .exec, .redeploy, nil: false
        }
    }
}
