import AppleAPI
import AppleClientSecret
import Daemon
import Failures
import Model
import StatusAPI

/// Whether the clock can be trusted to judge the secret.
extension ChainFacts {
    var clockLink: ChainLink {
        if let daemonsClock { return daemonsClock }
        if let failure = problems.first(where: { $0.place == .clock }) { return ChainLink(.clock, broken: failure) }
        if let clockFailure { return ChainLink(.clock, broken: clockFailure) }
        if now < Version.builtAt {
            return ChainLink(.clock, broken: Failure(.clockBeforeBuild, at: .clock))
        }
        if let advice = certain([.clock]) { return ChainLink(.clock, .broken, advice, .say("set it", see: .clock)) }
        return isSynchronised
            ? ChainLink(.clock, .ok, "synchronised")
            : ChainLink(.clock, .unknown, "the clock shows \(now), but the kernel does not report it as synchronised")
    }

    /// The clock as the daemon judges it, which has seen it run; nil if it finds nothing wrong.
    var daemonsClock: ChainLink? {
        let codes: [Failure.Code] = [.clockBeforeBuild, .clockDoubtful, .clockPerhapsAhead]
        guard let failure = view?.reasonReport?.failure, codes.contains(where: { $0.rawValue == failure.code }) else {
            return nil
        }
        return ChainLink(.clock, broken: failure)
    }
}
