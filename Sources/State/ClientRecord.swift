package import AppleClientSecret
package import Outputs
package import Rotation

/// What the state directory keeps about one client.
package struct ClientRecord: Sendable {
    /// The secret in force.
    package var current: RecordedSecret?
    /// The newest secret, if Apple has not accepted it yet: not published before, unless it is also ``current``.
    package var candidate: RecordedSecret?
    /// What Apple answered when it refused ``candidate`` twice.
    package var refusal: String?
    /// The secret that each action last ran for.
    package var delivered: [ActionID: SecretInfo]
    /// Environment files that held other lines: one that was deleted since is not created again.
    package var shared: Set<AbsolutePath>
    /// Where the secret is published, and former places not yet reported as perhaps still holding it.
    package var outputs: Set<OutputPlace>
    /// What was last put into each place behind an API.
    package var pushed: [PushOutput: SecretInfo]
    /// Actions that must run once more for a secret that they already ran for.
    package var owed: Set<ActionID>
    /// The last time that another key was found behind the key id.
    package var keyChange: KeyChange?
    /// When the actions that are still to run may run; nil where they wait for no turn.
    package var turn: WallTime?
    /// Whether a rollout was ever seen where ``current`` lies in the store.
    package var wasRolledOut: Bool

    package init(
        current: RecordedSecret? = nil, candidate: RecordedSecret? = nil, refusal: String? = nil,
        delivered: [ActionID: SecretInfo] = [:], shared: Set<AbsolutePath> = [], outputs: Set<OutputPlace> = [],
        owed: Set<ActionID> = [],
        keyChange: KeyChange? = nil, pushed: [PushOutput: SecretInfo] = [:], turn: WallTime? = nil,
        wasRolledOut: Bool = false
    ) {
        self.turn = turn
        self.wasRolledOut = wasRolledOut
        self.pushed = pushed
        self.current = current
        self.candidate = candidate
        self.refusal = refusal
        self.delivered = delivered
        self.shared = shared
        self.outputs = outputs
        self.owed = owed
        self.keyChange = keyChange
    }

    /// `record`, with the bytes of the secrets that it only names.
    package init(_ record: Record, current: RecordedSecret?, candidate: RecordedSecret?) {
        self.init(
            current: current, candidate: candidate, refusal: record.refusal, delivered: record.delivered,
            shared: record.shared, outputs: record.outputs, owed: record.owed, keyChange: record.keyChange,
            pushed: record.pushed, turn: record.turn, wasRolledOut: record.wasRolledOut)
    }

    /// Whether it holds secrets and all of them had expired before `moment`.
    func isExpired(before moment: WallTime) -> Bool {
        let all = [current?.secret.issued, candidate?.secret.issued].compactMap { $0 } + Array(delivered.values)
        return !all.isEmpty && all.allSatisfy { $0.expiresAt < moment }
    }

    /// This record without the secrets' bytes.
    package var record: Record {
        Record(
            current: current?.secret.issued, candidate: candidate?.secret.issued, refusal: refusal,
            delivered: delivered, shared: shared, outputs: outputs, owed: owed, keyChange: keyChange,
            pushed: pushed, turn: turn, wasRolledOut: wasRolledOut)
    }
}

/// A secret and all that is needed to verify it while its key cannot be read.
package struct RecordedSecret: Sendable {
    package let secret: Secret
    /// The public half of the key that signed it, a DER SubjectPublicKeyInfo (RFC 5480).
    package let signerKey: [UInt8]?

    package init(_ secret: Secret, signerKey: [UInt8]?) {
        self.secret = secret
        self.signerKey = signerKey
    }
}
