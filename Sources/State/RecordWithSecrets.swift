internal import AppleClientSecret
package import Model

/// The state directory's content about one client: its record, and the bytes of the secrets that the record names.
package struct RecordWithSecrets: Sendable {
    package let record: Record
    /// The secret that ``Record/current`` names.
    package let current: RecordedSecret?
    /// The secret that ``Record/candidate`` names.
    package let candidate: RecordedSecret?

    /// - Parameter record: which secrets it names follows from the other two.
    package init(_ record: Record = Record(), current: RecordedSecret? = nil, candidate: RecordedSecret? = nil) {
        var record = record
        record.current = current?.secret.issued
        record.candidate = candidate?.secret.issued
        self.record = record
        self.current = current
        self.candidate = candidate
    }

    /// Whether it holds secrets and all of them had expired before `moment`.
    func isExpired(before moment: WallTime) -> Bool {
        let all = [record.current, record.candidate].compactMap { $0 } + Array(record.delivered.values)
        return !all.isEmpty && all.allSatisfy { $0.expiresAt < moment }
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
