import AppleClientSecret
import Failures
package import Model
import Rotation

/// How Apple answers when it is asked about a secret.
package struct Apple: Sendable {
    package var failureMode: FailureMode?
    /// What Apple has accepted so far, whatever became of the answer.
    private(set) var accepted: Set<Fingerprint> = []
    /// What Apple has refused at least once, whatever became of the answer.
    private(set) var everRefused: Set<Fingerprint> = []
    /// How often it has refused each secret since it last accepted it.
    private(set) var refusals: [Fingerprint: Int] = [:]
    /// When it last accepted a secret that it had refused before, in milliseconds of the boot clock.
    private var acceptedAt: [Fingerprint: Int64] = [:]
    private var answers = 0

    package enum FailureMode: Hashable, Sendable {
        /// It is not reached.
        case isDown
        /// It answers something that is no verdict.
        case isWrong
        /// Every second answer is a refusal.
        case isFlapping
        /// It refuses the new secrets of one client.
        case refuses(ClientName)
        /// It knows these keys only.
        case knows(Set<KeyDigest>)

        fileprivate var fault: Fault {
            switch self {
            case .isDown: .appleDown
            case .isWrong: .appleWrong
            case .isFlapping: .appleFlapping
            case .refuses: .clientRefused
            case .knows: .newKeyRefused
            }
        }
    }

    /// Whether it answers that secrets of a client which this key signs are acceptable, whenever it is asked.
    func accepts(_ client: ClientName, signer: KeyDigest?) -> Bool {
        switch failureMode {
        case nil: true
        case .isDown, .isWrong, .isFlapping: false
        case .refuses(let refused): client != refused
        case .knows(let keys): signer.map { keys.contains($0) } ?? false
        }
    }

    /// Whether a secret is refused, or was until a minute ago: to hear that it is accepted, and to publish it, takes a moment.
    func mayBeRefused(_ secret: SecretInfo, at boot: Int64) -> Bool {
        refusals[secret.fingerprint] != nil || acceptedAt[secret.fingerprint].map { boot - $0 <= 60_000 } ?? false
    }

    /// Answers a request. Returns the fault that shows in the answer, too; nil where Apple accepts the secret.
    ///
    /// - Parameter boot: the moment, in milliseconds of the boot clock.
    mutating func answer(
        _ secret: SecretInfo, of client: ClientName, at boot: Int64
    ) -> (Result<Outcome, Failure>, Fault?) {
        answers += 1
        let isUnreached = failureMode == .isDown
        if isUnreached || failureMode == .isWrong {
            let failure = Failure(.verdictUnknown, at: .client(client), detail: isUnreached ? "unreachable" : "503")
            return (.failure(failure), failureMode?.fault)
        }
        guard accepts(client, signer: secret.signer) || failureMode == .isFlapping && answers % 2 == 0 else {
            everRefused.insert(secret.fingerprint)
            refusals[secret.fingerprint, default: 0] += 1
            return (
                .failure(Failure(.refusedByApple, at: .client(client), detail: "invalid_client")), failureMode?.fault
            )
        }
        accepted.insert(secret.fingerprint)
        if refusals.removeValue(forKey: secret.fingerprint) != nil { acceptedAt[secret.fingerprint] = boot }
        return (.success(.accepted), nil)
    }
}
