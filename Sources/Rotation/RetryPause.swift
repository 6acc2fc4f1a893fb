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
    /// The longest `Retry-After` that counts for a read of a target, for work on a target in an emergency, and for the store: an
    /// hour, as long as there is between two reads of a target.
    static let boundOfRest: Seconds = 3600

    /// The facts that the pause depends on, next to the resource and its failure.
    struct Circumstances {
        /// How often it has failed in a row.
        var failures: Int
        /// The action that was run.
        var action: Action?
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
            case .action, .stateChangeAction: (30, isForPerson ? unitBound : remoteBound)
            default: (1, localBound)
            }
        let doubled = (isForPerson ? bound : doubled(first, failures: circumstances.failures, atMost: bound)).count
        let pause =
            circumstances.isAtOnce ? 0 : doubled * 1000 - Int64(Double(doubled) * 200 * circumstances.jitter)
        guard let rest = failure.retryAfter else { return pause }
        // The store's service runs as another user, so its answers prove nothing. By its own rules it never asks for more. After
        // a mere read of a target, the next push to it waits as long.
        let isBounded = resource.isOfStore || circumstances.isReadOfTarget
        return max(pause, (isBounded ? min(rest, boundOfRest) : rest).count * 1000)
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

    /// The longest pause in an emergency: while the failure keeps an application from a secret, and its own is critical or
    /// expired. Nil if an emergency shortens no pause. An API that requests one gets it, but not for ever.
    static func longestInEmergency(
        of resource: Resource, after failure: Failure, _ action: Action?, failures: Int
    ) -> Seconds? {
        switch resource {
        case .action where failure.retryAfter == nil:
            needsPerson(action, failure.code, failures: failures) ? nil : emergencyBound
        case .target where failure.retryAfter == nil: nil
        case .action, .target: boundOfRest
        default: nil
        }
    }

    /// Whether a unit's job has failed so often that it is tried hourly, even in an emergency. Each try stops and starts an
    /// application. The administrator who fixes the unit starts it, which makes it read the new secret.
    private static func needsPerson(_ action: Action?, _ failure: Failure.Code, failures: Int) -> Bool {
        switch action {
        case .unit, .signal: failures >= 3 && failure.retry == .sparingly
        case .exec, .redeploy, nil: false
        }
    }
}

extension Rotation {
    /// Shortens the pause of failed work in an emergency. Each plan of the work asks it, because an emergency may begin later.
    mutating func shortenPause(of resource: Resource, _ timer: inout WakeTimer) {
        guard let failed = jobs.attempts[resource] else { return }
        let action: Action? = if case .action(let id) = resource { index.actions[id] } else { nil }
        let longest = RetryPause.longestInEmergency(
            of: resource, after: failed.failure, action, failures: failed.failures)
        guard let longest, isEmergency(at: resource, &timer) else { return }
        jobs.retry(resource, within: longest, at: timer.now)
    }

    private func isEmergency(at resource: Resource, _ timer: inout WakeTimer) -> Bool {
        switch resource {
        case .action(let id): isEmergency(id, &timer)
        case .target(let target): isEmergency(target, &timer)
        default: false
        }
    }
}
