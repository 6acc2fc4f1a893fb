import AppleClientSecret
import Daemon
import Failures
import Model
import Rotation

/// What is known of the way of one client's secret, by the functions with which `check`, `status`, `health --offline` and
/// `verify` judge.
struct ChainFacts {
    /// What came of asking Apple.
    enum Verdict {
        case answered(VerifyResult)
        /// Why Apple was not asked.
        case notAsked(String)
    }

    let name: ClientName
    var client: ClientConfiguration
    /// The preferred key.
    let key: KeyConfiguration
    /// The key with the key id of ``secretToTry``; nil where none is known.
    var signer: KeyConfiguration?
    let now: WallTime
    /// What `check` finds of this client and of what all clients share.
    var problems: [Failure] = []
    /// What `run` would do with the secret, as `check` says.
    var decision: RenewalDecision?
    /// Why what `check` finds holds for the caller only; nil where it holds for the daemon.
    var isForCallerOnly = false
    /// The daemon's view; nil where none answers.
    var view: ClientView?
    /// Whether the kernel calls the clock synchronised.
    var isSynchronised = true
    /// Why the clock is not trusted to judge the secret; nil where it is.
    var clockFailure: Failure?
    /// Of the outputs' files, as read back.
    var evaluation: OutputsHealth?
    /// What the outputs hold: the fingerprint and place of each different secret.
    var published: [(fingerprint: Fingerprint, place: String)] = []
    /// Whether each output was read, and holds a secret.
    var isEachOutputRead = true
    /// The secret that Apple is asked about, or why there is none.
    var secretToTry: Result<PublishedSecret, CommandFailure>?
    /// Who may read its outputs.
    var readers = OutputReaders()
    /// When the last of the outputs was written.
    var writtenAt: WallTime?
    var hidden: [HiddenOutput] = []
    /// What did not answer when that was looked for.
    var silent: [String] = []
    var units: [ReaderUnit] = []
    /// Nil where only root can look.
    var processes: [ReaderProcess]?
    var verdict = Verdict.notAsked("it was not asked")

    /// Why Apple is not asked; nil where it may be. Nothing is a reason where an output has the current secret, unless that has
    /// expired.
    var reasonNotToAsk: String? {
        let broken = Set(ClientChain(self).links.filter { $0.state == .broken }.map(\.name))
        let isPublished =
            if case .success(let secret)? = secretToTry { secret.token.fingerprint == current?.fingerprint } else {
                false
            }
        let isExpired = broken.contains(.secret) && current.map { now >= $0.expiresAt } != false
        return broken.isDisjoint(with: [.secret, .outputs]) || isPublished && !isExpired
            ? nil : "it was not asked, because no current secret is published"
    }

    /// The current secret, as the daemon says, else as a daemon would find it.
    var current: SecretInfo? {
        if let view { return view.current }
        switch decision {
        case .keep(let secret, _): return secret
        case .mint, .verify, .receive, .wait, nil: return evaluation?.secret
        }
    }
}
