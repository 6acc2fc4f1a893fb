internal import AppleClientSecret
internal import Failures
internal import Formats
internal import FoundationEssentials
internal import Outputs
internal import Rotation

/// The JSON of a client's record: plain values, converted to a ``ClientRecord`` only when all are well-formed.
struct RecordDocument: Decodable {
    private let client: String
    private let current: Kept?
    private let candidate: Kept?
    /// Missing when Apple has not refused the candidate.
    private let refusal: String?
    private let delivered: [String: Known]
    private let shared: [String]
    /// Missing when none is owed.
    private let owed: [String]?
    /// Missing when the key never changed.
    private let keyChange: Change?
    /// Missing where nothing was pushed.
    private let pushed: [Pushed]?
    /// Missing in records of older versions.
    private let outputs: [Place]?

    /// The JSON from which a record is read again.
    static func json(of record: ClientRecord, of client: ClientName) -> JSONText {
        let delivered = record.delivered.sorted { $0.key < $1.key }
        let shared = record.shared.sorted()
        let secrets = [("candidate", record.candidate), ("current", record.current)].compactMap { name, kept in
            kept.map { (name: name, value: Kept.json(of: $0)) }
        }
        let owed = record.owed.sorted().map { JSONText.string($0.description) }
        return .object(
            secrets + [
                ("client", .string(client.description)),
                ("delivered", .object(delivered.map { ($0.key.description, Known.json(of: $0.value)) })),
                ("shared", .array(shared.map { .string($0.description) })),
            ] + (owed.isEmpty ? [] : [("owed", .array(owed))])
                + (record.refusal.map { [("refusal", .string($0))] } ?? [])
                + (record.keyChange.map { [("keyChange", Change.json(of: $0))] } ?? [])
                + (record.pushed.isEmpty
                    ? []
                    : [
                        (
                            "pushed",
                            .array(
                                record.pushed.sorted { $0.key.target < $1.key.target }.map {
                                    Pushed.json(of: $0.key, $0.value)
                                })
                        )
                    ])
                + (record.outputs.isEmpty ? [] : [("outputs", .array(record.outputs.sorted().map(Place.json)))]))
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
        record.owed = Set((owed ?? []).map { ActionID($0) })
        if let keyChange {
            guard let change = keyChange.change else { return nil }
            record.keyChange = change
        }
        for pushed in pushed ?? [] {
            guard let target = TargetName(pushed.target), let issued = pushed.secret.issued else { return nil }
            record.pushed[PushOutput(target: target, place: pushed.place)] = issued
        }
        for place in outputs ?? [] {
            guard let place = place.place else { return nil }
            record.outputs.insert(place)
        }
        if let current {
            guard let kept = current.secret(sha256) else { return nil }
            record.current = kept
        }
        if let candidate {
            guard let kept = candidate.secret(sha256) else { return nil }
            record.candidate = kept
            record.refusal = refusal.map(Printable.line)
        }
        return record
    }

    /// Another key was found behind a key id.
    private struct Change: Decodable {
        let at: Int64
        let from: String
        let keyID: String
        let to: String

        static func json(of change: KeyChange) -> JSONText {
            .object([
                ("at", .number(Int(change.at.secondsSinceEpoch))),
                ("from", .string(change.from.description)),
                ("keyID", .string(change.keyID.description)),
                ("to", .string(change.to.description)),
            ])
        }

        var change: KeyChange? {
            guard let keyID = KeyID(keyID), let from = KeyDigest(from), let to = KeyDigest(to) else { return nil }
            return KeyChange(keyID: keyID, from: from, to: to, at: WallTime(secondsSinceEpoch: at))
        }
    }

    private struct Place: Decodable {
        let path: String
        /// Missing when the whole file is the secret.
        let variable: String?

        static func json(of place: OutputPlace) -> JSONText {
            .object(
                [("path", .string(place.path.description))]
                    + (place.variable.map { [("variable", .string($0))] } ?? []))
        }

        var place: OutputPlace? {
            AbsolutePath(path).map { OutputPlace(path: $0, slot: variable.map(Slot.variable) ?? .whole) }
        }
    }

    /// What was last put into a place behind an API.
    private struct Pushed: Decodable {
        let target: String
        let place: String
        let secret: Known

        static func json(of output: PushOutput, _ secret: SecretInfo) -> JSONText {
            .object([
                ("place", .string(output.place)), ("secret", Known.json(of: secret)),
                ("target", .string(output.target.description)),
            ])
        }
    }

    /// A secret's public facts.
    private struct Known: Decodable {
        let fingerprint: String
        let team: String
        let keyID: String
        let client: String
        let issuedAt: Int64
        let expiresAt: Int64
        let signer: String?

        static func json(of issued: SecretInfo) -> JSONText {
            .object([
                ("client", .string(issued.client.description)),
                ("expiresAt", .number(Int(issued.expiresAt.secondsSinceEpoch))),
                ("fingerprint", .string(issued.fingerprint.description)),
                ("issuedAt", .number(Int(issued.issuedAt.secondsSinceEpoch))),
                ("keyID", .string(issued.keyID.description)),
                ("signer", .text(issued.signer?.description)),
                ("team", .string(issued.team.description)),
            ])
        }

        var issued: SecretInfo? {
            guard let fingerprint = Fingerprint(fingerprint), let team = TeamID(team), let keyID = KeyID(keyID),
                let client = ClientID(client)
            else { return nil }
            var print: KeyDigest?
            if let signer {
                guard let known = KeyDigest(signer) else { return nil }
                print = known
            }
            let claims = Claims(
                issuer: team, keyID: keyID, subject: client, issuedAt: WallTime(secondsSinceEpoch: issuedAt),
                expiresAt: WallTime(secondsSinceEpoch: expiresAt))
            return SecretInfo(fingerprint: fingerprint, claims: claims, signer: print)
        }
    }

    /// A secret with its bytes.
    private struct Kept: Decodable {
        let token: String
        let known: Known
        let signerKey: Data?

        static func json(of kept: RecordedSecret) -> JSONText {
            .object([
                ("known", Known.json(of: kept.secret.issued)),
                ("signerKey", .text(kept.signerKey.map { Data($0).base64EncodedString() })),
                ("token", .string(kept.secret.token.withBytes { String(decoding: $0, as: UTF8.self) })),
            ])
        }

        func secret(_ sha256: ([UInt8]) -> [UInt8]) -> RecordedSecret? {
            let bytes = Array(token.utf8)
            guard Formats.isPlain(bytes), let issued = known.issued else { return nil }
            let token = Token(bytes, sha256: sha256)
            // The facts in the record must be those of this secret.
            guard token.fingerprint == issued.fingerprint else { return nil }
            return RecordedSecret(Secret(token: token, issued: issued), signerKey: signerKey.map { Array($0) })
        }
    }
}
