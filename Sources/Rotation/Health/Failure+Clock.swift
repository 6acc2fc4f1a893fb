package import AppleClientSecret
internal import Failures
package import Model

extension Failure {
    /// Why a secret that is minted by this clock would be useless; nil where nothing is known against the clock.
    ///
    /// - Parameter builtAt: when this program was built.
    package static func ofClock(builtAt: WallTime, at now: Now) -> Failure? {
        ClockTrust(judging: [], builtAt: builtAt, at: now).failure
    }

    /// Why the clock cannot tell whether Apple accepts this secret; nil where it can.
    ///
    /// - Parameter builtAt: when this program was built.
    package static func ofClock(judging secret: SecretInfo, builtAt: WallTime, at now: Now) -> Failure? {
        let clock = ClockTrust(judging: [secret], builtAt: builtAt, at: now)
        var deadlines = Deadlines(now: now)
        guard clock.failure == nil, clock.spares(secret, due: secret.expiresAt, builtAt: builtAt, &deadlines) else {
            return clock.failure
        }
        return Failure(.clockPerhapsAhead, at: .clock, detail: now.wall.description)
    }
}
