internal import AppleClientSecret
internal import Failures
internal import Formats
internal import Model
internal import Outputs

/// The JSON of a client's record.
enum RecordDocument {
    /// The JSON from which a record is read again.
    static func json(of kept: ClientRecord, of client: ClientName) -> JSONText {
        let record = kept.record
        let delivered = record.delivered.sorted { $0.key < $1.key }
        let shared = record.shared.sorted()
        let secrets = [("candidate", kept.candidate), ("current", kept.current)].compactMap { name, secret in
            secret.map { (name: name, value: Kept.json(of: $0)) }
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
                + (record.turn.map { [("turn", .number(Int($0.secondsSinceEpoch)))] } ?? [])
                + (record.wasRolledOut ? [("rolledOut", .bool(true))] : [])
                + (record.fleetSize > 0 ? [("fleetSize", .number(record.fleetSize))] : [])
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

    /// The record that a document holds. Throws when it is another client's, or when a value is missing or malformed: no
    /// part of such a document is used.
    static func record(
        in document: JSONValue, of name: ClientName, sha256: ([UInt8]) -> [UInt8]
    ) throws(Malformed) -> ClientRecord {
        guard try document.string("client") == name.description else { throw Malformed() }
        var record = Record()
        guard case .object(let delivered)? = document["delivered"] else { throw Malformed() }
        for (action, known) in delivered { record.delivered[ActionID(action)] = try Known.issued(known) }
        for path in try document.strings("shared") { record.shared.insert(try Malformed.unless(AbsolutePath(path))) }
        // The rest is missing where there is none, and in records of older versions.
        if document.given("owed") != nil { record.owed = Set(try document.strings("owed").map { ActionID($0) }) }
        record.keyChange = try document.given("keyChange").map(Change.change)
        if document.given("turn") != nil { record.turn = try document.moment("turn") }
        record.wasRolledOut = document["rolledOut"] == .bool(true)
        if let size = document.given("fleetSize")?.whole {
            record.fleetSize = Int(try Malformed.unless((1...1_000_000_000).contains(size) ? size : nil))
        }
        for pushed in try document.elements("pushed") {
            let target = try Malformed.unless(TargetName(try pushed.string("target")))
            let output = PushOutput(target: target, place: try pushed.string("place"))
            record.pushed[output] = try Known.issued(try Malformed.unless(pushed["secret"]))
        }
        for place in try document.elements("outputs") { record.outputs.insert(try Place.place(place)) }
        func secret(_ name: String) throws(Malformed) -> RecordedSecret? {
            guard let kept = document.given(name) else { return nil }
            return try Kept.secret(kept, sha256)
        }
        let candidate = try secret("candidate")
        let refusal = try document.optionalString("refusal")
        if candidate != nil { record.refusal = refusal.map(Printable.line) }
        return ClientRecord(record, current: try secret("current"), candidate: candidate)
    }

    /// Another key was found behind a key id.
    private enum Change {
        static func json(of change: KeyChange) -> JSONText {
            .object([
                ("at", .number(Int(change.at.secondsSinceEpoch))),
                ("from", .string(change.from.description)),
                ("keyID", .string(change.keyID.description)),
                ("to", .string(change.to.description)),
            ])
        }

        static func change(_ value: JSONValue) throws(Malformed) -> KeyChange {
            KeyChange(
                keyID: try Malformed.unless(KeyID(try value.string("keyID"))),
                from: try Malformed.unless(KeyDigest(try value.string("from"))),
                to: try Malformed.unless(KeyDigest(try value.string("to"))), at: try value.moment("at"))
        }
    }

    private enum Place {
        static func json(of place: OutputPlace) -> JSONText {
            .object(
                [("path", .string(place.path.description))]
                    + (place.variable.map { [("variable", .string($0))] } ?? []))
        }

        static func place(_ value: JSONValue) throws(Malformed) -> OutputPlace {
            let path = try Malformed.unless(AbsolutePath(try value.string("path")))
            // No variable: the whole file is the secret.
            return OutputPlace(path: path, slot: try value.optionalString("variable").map(Slot.variable) ?? .whole)
        }
    }

    /// What was last put into a place behind an API.
    private enum Pushed {
        static func json(of output: PushOutput, _ secret: SecretInfo) -> JSONText {
            .object([
                ("place", .string(output.place)), ("secret", Known.json(of: secret)),
                ("target", .string(output.target.description)),
            ])
        }
    }

    /// A secret's public facts.
    private enum Known {
        static func json(of issued: SecretInfo) -> JSONText {
            .object([
                ("client", .string(issued.client.description)),
                ("expiresAt", .number(Int(issued.expiresAt.secondsSinceEpoch))),
                ("fingerprint", .string(issued.fingerprint.description)),
                ("issuedAt", .number(Int(issued.issuedAt.secondsSinceEpoch))),
                ("keyID", .string(issued.keyID.description)),
                ("signed", .text(issued.name.signed?.description)),
                ("signer", .text(issued.signer?.description)),
                ("team", .string(issued.team.description)),
            ])
        }

        static func issued(_ value: JSONValue) throws(Malformed) -> SecretInfo {
            let claims = Claims(
                issuer: try Malformed.unless(TeamID(try value.string("team"))),
                keyID: try Malformed.unless(KeyID(try value.string("keyID"))),
                subject: try Malformed.unless(ClientID(try value.string("client"))),
                issuedAt: try value.moment("issuedAt"), expiresAt: try value.moment("expiresAt"))
            var signed: Fingerprint?
            if let text = try value.optionalString("signed") { signed = try Malformed.unless(Fingerprint(text)) }
            let name = SecretName(
                try Malformed.unless(Fingerprint(try value.string("fingerprint"))), signed: signed)
            // Nil where no known key has signed it.
            guard let signer = try value.optionalString("signer") else {
                return SecretInfo(name, claims: claims, signer: nil)
            }
            return SecretInfo(name, claims: claims, signer: try Malformed.unless(KeyDigest(signer)))
        }
    }

    /// A secret with its bytes.
    private enum Kept {
        static func json(of kept: RecordedSecret) -> JSONText {
            .object([
                ("known", Known.json(of: kept.secret.issued)),
                ("signerKey", .text(kept.signerKey.map(Base64.encode))),
                ("token", .string(kept.secret.token.withBytes { String(decoding: $0, as: UTF8.self) })),
            ])
        }

        static func secret(
            _ value: JSONValue, _ sha256: ([UInt8]) -> [UInt8]
        ) throws(Malformed) -> RecordedSecret {
            let bytes = Array(try value.string("token").utf8)
            guard FormatRegistry.isPlain(bytes) else { throw Malformed() }
            let issued = try Known.issued(try Malformed.unless(value["known"]))
            let token = Token(bytes, sha256: sha256)
            // The facts in the record must be those of this secret.
            guard token.fingerprint == issued.fingerprint else { throw Malformed() }
            // An older version did not write what is signed.
            let secret = Secret(
                token: token, issued: SecretInfo(token.name, claims: issued.claims, signer: issued.signer))
            guard let signerKey = try value.optionalString("signerKey") else {
                return RecordedSecret(secret, signerKey: nil)
            }
            return RecordedSecret(secret, signerKey: try Malformed.unless(Base64.decode(signerKey)))
        }
    }
}

/// A value in the state directory is missing or malformed.
struct Malformed: Error, Hashable {
    /// The value; throws when there is none.
    static func unless<Value>(_ value: Value?) throws(Malformed) -> Value {
        guard let value else { throw Malformed() }
        return value
    }
}

/// The members of an object in the state directory.
extension JSONValue {
    /// Nil where the member is missing or null.
    func given(_ name: String) -> JSONValue? {
        let value = self[name]
        return value == .null ? nil : value
    }

    func string(_ name: String) throws(Malformed) -> String { try Malformed.unless(self[name]?.text) }

    /// Nil where the member is missing or null.
    func optionalString(_ name: String) throws(Malformed) -> String? {
        guard let value = given(name) else { return nil }
        return try Malformed.unless(value.text)
    }

    func strings(_ name: String) throws(Malformed) -> [String] {
        try Malformed.unless(self[name]?.elements).map { value throws(Malformed) in try Malformed.unless(value.text) }
    }

    /// None where the member is missing or null.
    func elements(_ name: String) throws(Malformed) -> [JSONValue] {
        guard let value = given(name) else { return [] }
        return try Malformed.unless(value.elements)
    }

    func moment(_ name: String) throws(Malformed) -> WallTime {
        WallTime(secondsSinceEpoch: try Malformed.unless(self[name]?.whole))
    }
}
