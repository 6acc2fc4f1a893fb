import Failures
package import Rotation

/// How Apple answers when it is asked about a secret.
package struct Apple: Sendable {
    /// It is not reached.
    package var isDown = false
    /// It answers something that is no verdict.
    package var isWrong = false
    /// Every second answer is another one than it should be: a refusal where it accepts, nothing where it refuses.
    package var isFlapping = false
    /// The clients whose new secrets it refuses.
    package var refused: Set<ClientName> = []
    /// The keys that it knows; nil: all.
    package var keys: Set<KeyDigest>?

    private var answers = 0

    /// Whether it would let users sign in with a secret.
    package func accepts(_ secret: SecretInfo, of client: ClientName) -> Bool {
        !refused.contains(client) && (secret.signer.flatMap { keys?.contains($0) } ?? true)
    }

    mutating func answer(_ secret: SecretInfo, of client: ClientName) -> Result<Outcome, Failure> {
        answers += 1
        let isOdd = isFlapping && answers % 2 == 1
        if isDown || isWrong {
            return .failure(Failure(.verdictUnknown, at: .client(client), detail: isDown ? "unreachable" : "503"))
        }
        if accepts(secret, of: client) {
            return isOdd ? Self.refusal(client) : .success(.accepted)
        }
        return isOdd ? .failure(Failure(.verdictUnknown, at: .client(client), detail: "503")) : Self.refusal(client)
    }

    private static func refusal(_ client: ClientName) -> Result<Outcome, Failure> {
        .failure(Failure(.refusedByApple, at: .client(client), detail: "invalid_client"))
    }
}
