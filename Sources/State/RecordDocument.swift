package import AppleClientSecret
internal import Digest
internal import Failures
internal import Formats
package import Model
internal import Outputs

/// A client's record as the state directory has it, read and not yet checked: the secrets in it may be anything.
///
/// Its names are in files of earlier versions: never rename one. Members without a value are left out, and missing ones have
/// none: earlier versions knew less.
struct RecordDocument {
    private let client: String
    /// Without the secrets.
    private let record: Record
    private let current: KeptSecret?
    private let candidate: KeptSecret?

    /// The document from which a record is read again.
    init(_ kept: RecordWithSecrets, of client: ClientName) {
        self.client = client.description
        record = kept.record
        current = kept.current.map { KeptSecret($0) }
        candidate = kept.candidate.map { KeptSecret($0) }
    }

    /// The record in the document; throws when it is another client's, or when its secrets are not those that it describes.
    func record(of name: ClientName) throws(RecordFormat.ReadError) -> RecordWithSecrets {
        guard client == name.description else { throw .damaged }
        var record = record
        record.refusal = candidate == nil ? nil : record.refusal.map(Printable.line)
        return RecordWithSecrets(record, current: try current?.secret(), candidate: try candidate?.secret())
    }
}

extension RecordDocument: JSONDocument {
    init(_ document: Self?, _ members: inout JSONMembers) throws(JSONError) {
        candidate = try members.orAbsent("candidate", document?.candidate)
        current = try members.orAbsent("current", document?.current)
        client = try members("client", document?.client)
        let known = document?.record
        var record = Record()
        record.delivered = try members("delivered", known?.delivered)
        record.shared = try members("shared", known?.shared)
        record.owed = try members.unlessEmpty("owed", known?.owed) ?? []
        record.failed = try members.unlessEmpty("failed", known?.failed)?.mapValues(Printable.line) ?? [:]
        let repairs = try members.unlessEmpty("repairs", known?.repairs.mapValues { $0.map(UnixTime.init) })
        record.repairs = repairs?.mapValues { $0.map(\.moment) } ?? [:]
        record.refusal = try members.orAbsent("refusal", known?.refusal)
        record.keyChange = try members.orAbsent("keyChange", known?.keyChange)
        record.turn = try members.orAbsent("turn", (known?.turn).map(UnixTime.init))?.moment
        record.wasRolledOut = try members.flag("rolledOut", known?.wasRolledOut)
        record.fleet = try members.unlessEmpty("fleet", known?.fleet) ?? []
        record.isRolloutHeld = try members.flag("rolloutHeld", known?.isRolloutHeld)
        record.store = try members.orAbsent("store", known?.store)
        let pushed = known?.pushed.sorted { $0.key.target < $1.key.target }.map(PushedSecret.init)
        for pushed in try members.unlessEmpty("pushed", pushed) ?? [] { record.pushed[pushed.output] = pushed.secret }
        let shown = known?.shown.sorted { $0.key.target < $1.key.target }.map(ShownPlace.init)
        for shown in try members.unlessEmpty("shown", shown) ?? [] { record.shown[shown.output] = shown.content }
        let failing = known?.failing.sorted { $0.key.target < $1.key.target }.map(FailingPlace.init)
        for failing in try members.unlessEmpty("failing", failing) ?? [] {
            record.failing[failing.output] = failing.failure
        }
        record.outputs = try members.unlessEmpty("outputs", known?.outputs) ?? []
        self.record = record
    }
}

/// The secret that was last put into a place behind an API.
private struct PushedSecret: JSONDocument {
    let output: PushOutput
    let secret: SecretInfo

    init(_ output: PushOutput, _ secret: SecretInfo) {
        self.output = output
        self.secret = secret
    }

    init(_ pushed: Self?, _ members: inout JSONMembers) throws(JSONError) {
        let place = try members("place", pushed?.output.place)
        secret = try members("secret", pushed?.secret)
        output = PushOutput(target: try members("target", pushed?.output.target), place: place)
    }
}

/// The content that an API has shown for a place instead.
private struct ShownPlace: JSONDocument {
    let output: PushOutput
    /// Nil if a later version writes something unknown to this one.
    let content: PushPlaceContent?

    init(_ output: PushOutput, _ content: PushPlaceContent) {
        self.output = output
        self.content = content
    }

    init(_ shown: Self?, _ members: inout JSONMembers) throws(JSONError) {
        let place = try members("place", shown?.output.place)
        content = try PushPlaceContent(shown?.content, &members)
        output = PushOutput(target: try members("target", shown?.output.target), place: place)
    }
}

/// Why an API did not do what it was asked.
private struct FailingPlace: JSONDocument {
    let output: PushOutput
    /// Nil if a later version writes a code unknown to this one.
    let failure: Record.PlaceFailure?

    init(_ output: PushOutput, _ failure: Record.PlaceFailure) {
        self.output = output
        self.failure = failure
    }

    init(_ failing: Self?, _ members: inout JSONMembers) throws(JSONError) {
        let code = try members("code", failing?.failure?.code.rawValue)
        let detail = try members.orAbsent("detail", failing?.failure?.detail)
        let place = try members("place", failing?.output.place)
        output = PushOutput(target: try members("target", failing?.output.target), place: place)
        failure = FailureCode(rawValue: code).map { Record.PlaceFailure($0, detail.map(Printable.line)) }
    }
}

/// A secret with its bytes.
private struct KeptSecret: JSONDocument {
    private let known: SecretInfo
    private let signerKey: Base64Bytes?
    private let token: Token

    init(_ kept: RecordedSecret) {
        known = kept.secret.issued
        signerKey = kept.signerKey.map(Base64Bytes.init)
        token = kept.secret.token
    }

    init(_ kept: Self?, _ members: inout JSONMembers) throws(JSONError) {
        known = try members("known", kept?.known)
        signerKey = try members.orNull("signerKey", kept?.signerKey)
        token = try members("token", kept?.token)
    }

    func secret() throws(RecordFormat.ReadError) -> RecordedSecret {
        // The facts in the record must be those of this secret.
        guard token.withBytes({ FormatRegistry.isPlain($0) }), token.fingerprint == known.fingerprint else {
            throw .damaged
        }
        // An older version did not write the signed part.
        let issued = SecretInfo(token.name, claims: known.claims, signer: known.signer)
        return RecordedSecret(Secret(token: token, issued: issued), signerKey: signerKey?.bytes)
    }
}

extension SecretInfo: JSONDocument {
    package init(_ info: SecretInfo?, _ members: inout JSONMembers) throws(JSONError) {
        let client = try members("client", info?.client)
        let expiresAt = try members("expiresAt", (info?.expiresAt).map(UnixTime.init)).moment
        let fingerprint = try members("fingerprint", info?.fingerprint)
        let issuedAt = try members("issuedAt", (info?.issuedAt).map(UnixTime.init)).moment
        let keyID = try members("keyID", info?.keyID)
        let signed = try members.orNull("signed", info?.name.signed)
        // Null if no known key has signed it.
        let signer = try members.orNull("signer", info?.signer)
        self.init(
            SecretName(fingerprint, signed: signed),
            claims: Claims(
                issuer: try members("team", info?.team), keyID: keyID, subject: client, issuedAt: issuedAt,
                expiresAt: expiresAt),
            signer: signer)
    }
}

/// Another key was found behind a key id.
extension KeyChange: JSONDocument {
    package init(_ change: KeyChange?, _ members: inout JSONMembers) throws(JSONError) {
        let at = try members("at", (change?.at).map(UnixTime.init)).moment
        let from = try members("from", change?.from)
        let keyID = try members("keyID", change?.keyID)
        self.init(keyID: keyID, from: from, to: try members("to", change?.to), at: at)
    }
}

extension OutputPlace: JSONDocument {
    package init(_ place: OutputPlace?, _ members: inout JSONMembers) throws(JSONError) {
        let path = try members("path", place?.path)
        // No variable: the whole file is the secret.
        self.init(path: path, slot: FileSlot(variable: try members.orAbsent("variable", place?.variable)))
    }
}

extension ReportedStates: JSONDocument {
    package init(_ states: ReportedStates?, _ members: inout JSONMembers) throws(JSONError) {
        self.init()
        owed = try members("owed", states?.owed)
        stages = try members("stages", states?.stages)
        health = try members("health", states?.health)
        let starts = states?.starts.mapValues { $0.map(UnixTime.init) }
        self.starts = try members("starts", starts).mapValues { $0.map(\.moment) }
    }
}
