package import AppleClientSecret
package import Rotation

/// What the state directory keeps of one client.
package struct ClientRecord: Sendable {
    /// The secret in force.
    package var current: KeptSecret?
    /// A newer one that Apple has not accepted yet: not to be published before it has.
    package var candidate: KeptSecret?
    /// What each action was last run for.
    package var delivered: [ActionID: SecretInfo]
    /// Environment files that held other lines: one that has vanished since is not made again.
    package var shared: Set<AbsolutePath>
    /// Where the secret is published, and was before, as long as nobody was told that it may still lie there.
    package var outputs: Set<OutputPlace>
    /// Actions that are to run once more for what they were run for already.
    package var owed: Set<ActionID>
    /// When the client's key was last another one than before.
    package var keyChange: KeyChange?

    package init(
        current: KeptSecret? = nil, candidate: KeptSecret? = nil, delivered: [ActionID: SecretInfo] = [:],
        shared: Set<AbsolutePath> = [], outputs: Set<OutputPlace> = [], owed: Set<ActionID> = [],
        keyChange: KeyChange? = nil
    ) {
        self.current = current
        self.candidate = candidate
        self.delivered = delivered
        self.shared = shared
        self.outputs = outputs
        self.owed = owed
        self.keyChange = keyChange
    }

    /// What `record` says, with the bytes that it only names.
    package init(_ record: Record, current: KeptSecret?, candidate: KeptSecret? = nil) {
        self.init(
            current: current, candidate: candidate, delivered: record.delivered, shared: record.shared,
            outputs: record.outputs, owed: record.owed, keyChange: record.keyChange)
    }

    /// Whether it holds secrets and all of them had expired before `moment`.
    func isExpired(before moment: WallTime) -> Bool {
        let all = [current?.issued, candidate?.issued].compactMap { $0 } + Array(delivered.values)
        return !all.isEmpty && all.allSatisfy { $0.expiresAt < moment }
    }

    /// What is known of it without bytes; the candidate is left out.
    package var record: Record {
        Record(
            current: current?.issued, delivered: delivered, shared: shared, outputs: outputs, owed: owed,
            keyChange: keyChange)
    }
}

/// A secret and all that is needed to judge it while its key cannot be read.
package struct KeptSecret: Sendable {
    package let token: Token
    package let issued: SecretInfo
    /// The public half of the key that signed it, a DER SubjectPublicKeyInfo (RFC 5480).
    package let signerKey: [UInt8]?

    package init(token: Token, issued: SecretInfo, signerKey: [UInt8]?) {
        self.token = token
        self.issued = issued
        self.signerKey = signerKey
    }
}
