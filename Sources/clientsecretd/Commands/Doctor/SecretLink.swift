import AppleClientSecret
import Failures
import Model
import Rotation
import StatusAPI

/// Whether there is a current secret.
extension ChainFacts {
    var secretLink: ChainLink {
        let shared = problems.first { failure in
            if case .client(name) = failure.place { return true }
            // A daemon that runs is not harmed yet.
            return failure.code == .stateUnusable
                || failure.code == .unitCannotStart && view == nil && !isOfReader(failure)
        }
        if let link = link(.secret, shared) { return link }
        if let current {
            let words = "\(current.fingerprint), which \(TimeWords.expiry(current.expiresAt, to: now))"
            guard now < current.expiresAt else {
                if clockFailure != nil || daemonsClock != nil {
                    return ChainLink(.secret, .unknown, words + " by this clock, which is not trusted")
                }
                return ChainLink(.secret, .broken, words, renewal)
            }
            return ChainLink(.secret, .ok, words)
        }
        if let reason = view?.reasonReport {
            return reason.failure.map { ChainLink(.secret, broken: $0) }
                ?? ChainLink(.secret, .broken, reason.sentence)
        }
        switch decision {
        case .mint where evaluation?.failure?.code == .notResponding:
            return ChainLink(.secret, .unknown, "none is known, because an output does not respond")
        case .mint(let reason):
            let words = "there is none; one would be minted, \(reason.words)"
            return ChainLink(.secret, isForCallerOnly ? .unknown : .broken, words, renewal)
        case .receive: return ChainLink(.secret, .broken, "its source offers none that this machine can use")
        default: return ChainLink(.secret, .unknown, "the steps before it have to work first")
        }
    }

    private var renewal: Remedy {
        if view != nil { return .renew(name.description) }
        guard let unit = ShellCommand.daemonUnit, CommandContext.current.hasSystemd else {
            return .say("start the daemon", run: .runDaemon)
        }
        return ShellCommand.start(unit).map { Remedy.run($0) }
            ?? .say("see what keeps \(unit) from its start", see: .check)
    }
}
