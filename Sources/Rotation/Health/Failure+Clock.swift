package import AppleClientSecret
internal import Failures
package import Model

extension Failure {
    /// Why a secret that is minted by this clock would be useless; nil if nothing is known against the clock.
    ///
    /// - Parameter builtAt: when this program was built.
    package static func ofClock(builtAt: WallTime, at now: Now) -> Failure? {
        ClockTrust(judging: [], run: .fromTheStart, builtAt: builtAt, at: now).failure
    }

    /// Why the clock cannot tell whether Apple accepts this secret; nil if it can.
    ///
    /// - Parameters:
    ///   - run: the observations of the clock by a daemon.
    ///   - builtAt: when this program was built.
    package static func ofClock(
        judging secret: SecretInfo, run: ClockRun, builtAt: WallTime, at now: Now
    ) -> Failure? {
        let clock = ClockTrust(judging: [secret], run: run, builtAt: builtAt, at: now)
        let isSpared = WakeTimer.peek(at: now) {
            clock.spares(secret, due: secret.expiresAt, builtAt: builtAt, &$0)
        }
        return clock.doubt(isSpared: isSpared, at: now.wall)
    }
}
