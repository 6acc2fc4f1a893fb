internal import AppleClientSecret
internal import FoundationEssentials
internal import Rotation

/// The JSON of a client's record: plain values, which become the domain's only when all of them are well-formed.
struct RecordDocument: Codable {
    private let client: String
    private let current: Kept?
    private let candidate: Kept?
    private let delivered: [String: Known]
    private let shared: [String]

    init(_ record: ClientRecord, of client: ClientName) {
        self.client = client.description
        current = record.current.map(Kept.init)
        candidate = record.candidate.map(Kept.init)
        delivered = record.delivered.reduce(into: [:]) { $0[$1.key.description] = Known($1.value) }
        shared = record.shared.map(\.description).sorted()
    }

    /// The record; nil when it is another client's or a value is malformed.
    func record(of name: ClientName, sha256: ([UInt8]) -> [UInt8]) -> ClientRecord? {
        guard client == name.description else { return nil }
        var record = ClientRecord()
        for (action, known) in delivered {
            guard let issued = known.issued else { return nil }
            record.delivered[ActionID(action)] = issued
        }
        for path in shared {
            guard let path = AbsolutePath(path) else { return nil }
            record.shared.insert(path)
        }
        if let current {
            guard let kept = current.secret(sha256) else { return nil }
            record.current = kept
        }
        if let candidate {
            guard let kept = candidate.secret(sha256) else { return nil }
            record.candidate = kept
        }
        return record
    }

    /// What is known of a secret without its bytes.
    private struct Known: Codable {
        let fingerprint: String
        let team: String
        let keyID: String
        let client: String
        let issuedAt: Int64
        let expiresAt: Int64
        let signer: String?

        init(_ issued: Issued) {
            fingerprint = issued.fingerprint.description
            team = issued.team.description
            keyID = issued.keyID.description
            client = issued.client.description
            issuedAt = issued.issuedAt.secondsSinceEpoch
            expiresAt = issued.expiresAt.secondsSinceEpoch
            signer = issued.signer?.description
        }

        var issued: Issued? {
            guard let fingerprint = Fingerprint(fingerprint), let team = TeamID(team), let keyID = KeyID(keyID),
                let client = ClientID(client)
            else { return nil }
            var print: KeyPrint?
            if let signer {
                guard let known = KeyPrint(signer) else { return nil }
                print = known
            }
            let claims = Claims(
                issuer: team, keyID: keyID, subject: client, issuedAt: WallTime(secondsSinceEpoch: issuedAt),
                expiresAt: WallTime(secondsSinceEpoch: expiresAt))
            return Issued(fingerprint: fingerprint, claims: claims, signer: print)
        }
    }

    /// A secret with its bytes.
    private struct Kept: Codable {
        let token: String
        let known: Known
        let signerKey: Data?

        init(_ kept: KeptSecret) {
            token = kept.token.withBytes { String(decoding: $0, as: UTF8.self) }
            known = Known(kept.issued)
            signerKey = kept.signerKey.map { Data($0) }
        }

        func secret(_ sha256: ([UInt8]) -> [UInt8]) -> KeptSecret? {
            guard let bytes = FileFormat.plain(Array(token.utf8)), let issued = known.issued else { return nil }
            let token = Token(bytes, sha256: sha256)
            // What the record says of a secret must be said of this one.
            guard token.fingerprint == issued.fingerprint else { return nil }
            return KeptSecret(token: token, issued: issued, signerKey: signerKey.map { Array($0) })
        }
    }
}
