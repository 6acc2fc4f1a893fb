import AppleClientSecret
import Failures
import Model
import StatusAPI

/// The report of `inspect` about a token: its content, and the one judgement of it.
struct InspectionReport {
    let statement: Statement
    /// Nil unless it has a form that Apple accepts.
    let form: SecretForm?
    /// Why Apple refuses it, the gravest first; none if it accepts it, as far as is known.
    let objections: [Objection]
    let fingerprint: Fingerprint
    /// Nil when there was no key to check with.
    let signatureVerified: Bool?
    /// Whether only the name of the key's file speaks against it: the key itself carries no id.
    private let isByFileName: Bool
    /// The id in the name of the key's file; nil if the file does not have Apple's name.
    let keyFileID: KeyID?
    /// Why the clock cannot tell whether Apple accepts its times; nil if it can.
    private let clockFailure: Failure?
    let now: WallTime

    /// - Parameter refusalOfIds: the objection of this machine's configuration to its ids.
    init(
        _ jws: CompactJWS, fingerprint: Fingerprint, signatureVerified: Bool?, keyFileID: KeyID? = nil,
        refusalOfIds: Objection? = nil, clockFailure: Failure? = nil, now: WallTime
    ) {
        self.clockFailure = clockFailure
        statement = jws.stated
        form = jws.form
        self.fingerprint = fingerprint
        self.signatureVerified = signatureVerified
        self.keyFileID = keyFileID
        self.now = now
        var objections = jws.objections
        var isByFileName = false
        if clockFailure == nil, let objection = form?.objectionToTimes(reached: { $0 <= now }) {
            objections.append(objection)
        }
        // A signature of another form is of no key.
        if signatureVerified == false, jws.isES256 { objections.append(.unsigned) }
        if let refusalOfIds {
            objections.append(refusalOfIds)
        } else if signatureVerified == true, let keyFileID, let stated = form?.claims.keyID, stated != keyFileID {
            objections.append(.otherKeyID(stated))
            isByFileName = objections.count == 1
        }
        self.objections = objections
        self.isByFileName = isByFileName
    }

    /// A token whose expiry is missing or unreadable counts as expired.
    var isExpired: Bool {
        guard let end = statement.expiresAt.value?.moment else { return true }
        return end <= now
    }

    /// Whether Apple accepts the secret, as far as is known.
    var isGood: Bool { objections.isEmpty }

    /// A line for each claim, in words.
    func lines(for terminal: Terminal) -> [[Piece]] {
        let kind = statement.kind
        var rows: [(String, Piece)] = []
        if kind != .signIn { rows.append(("kind", Piece(kindWords))) }
        if kind.hasClient { rows.append(("client id", name(statement.subject))) }
        rows += [("team id", name(statement.issuer)), ("key id", name(statement.keyID))]
        if kind.hasClient { rows.append(("audience", audience)) }
        if statement.origins != .missing {
            rows.append(("origin", text(statement.origins.map(Self.words))))
        }
        if statement.scope != .missing { rows.append(("scope", name(statement.scope))) }
        let isPast = statement.expiresAt.value?.moment.map { $0 < now } == true
        rows += [("issued", moment(statement.issuedAt)), (isPast ? "expired" : "expires", moment(statement.expiresAt))]
        if let life = life(terminal) { rows.append(("lifetime", life)) }
        rows.append(("signature", signature))
        rows.append(("fingerprint", Piece(fingerprint.description)))
        if statement.algorithm.value != "ES256" { rows.append(("algorithm", name(statement.algorithm))) }
        let others = statement.otherHeaderNames + statement.otherClaimNames
        if !others.isEmpty { rows.append(("also states", Piece(Self.words(others)))) }
        let verdict = Piece(self.verdict, isGood ? .green : .red)
        return [[verdict]] + Table(rows: rows.map { [Piece($0, .dim), $1] }).lines
    }

    /// The summary, which is shown first.
    var verdict: String {
        guard objections.isEmpty else {
            let file = isByFileName ? keyFileID.map { "AuthKey_\($0).p8" } : nil
            let doubt = file.map { ", unless the key's file, \($0), was renamed" } ?? ""
            return "Apple refuses this \(statement.kind.rules.words)\(doubt): it "
                + "\(objections.map(\.words).joined(separator: "; it "))."
        }
        if let clockFailure {
            return "A \(statement.kind.rules.words) whose times cannot be judged: \(clockFailure.sentence)."
        }
        return "A \(statement.kind.rules.words) that is valid for another \(lifeLeft)\(oddities)."
    }

    /// The kind's name; of a token that may be of two, both.
    private var kindWords: String {
        guard form?.claims.subject.isUnrestricted == true else { return statement.kind.rawValue }
        let other = statement.kind == .music ? TokenKind.maps : .music
        return "\(statement.kind), or \(other): it states neither an origin nor a scope"
    }

    /// The document of `--json`.
    var json: String {
        let ids: [(String, JSONText)] = [
            ("kind", .string(statement.kind.rawValue)), ("client_id", .text(statement.subject.value)),
            ("team_id", .text(statement.issuer.value)), ("key_id", .text(statement.keyID.value)),
        ]
        let times: [(String, JSONText)] = [
            ("issued_at", .moment(statement.issuedAt.value?.moment)),
            ("expires_at", .moment(statement.expiresAt.value?.moment)), ("expired", .bool(isExpired)),
            ("signature_verified", signatureVerified.map(JSONText.bool) ?? .null),
        ]
        return JSONText.object(ids + restrictions + times).rendered
    }

    private var restrictions: [(String, JSONText)] {
        var members: [(String, JSONText)] = []
        if let origins = statement.origins.value { members.append(("origins", .array(origins.map(JSONText.string)))) }
        if let scope = statement.scope.value { members.append(("scope", .string(scope))) }
        return members
    }

    // MARK: Words

    /// How a good secret differs from those minted here.
    private var oddities: String {
        var words: [String] = []
        if form?.hasFractionalTime == true { words.append("its times have fractions of a second") }
        if form?.notBefore != nil { words.append("it has \"nbf\"") }
        return words.isEmpty ? "" : ", though not as clientsecretd mints it: " + words.joined(separator: ", ")
    }

    private var lifeLeft: String {
        statement.expiresAt.value?.moment.map { TimeWords.span($0 - now) } ?? "unknown time"
    }

    private func text(_ stated: Stated<String>) -> Piece {
        switch stated {
        case .missing: Piece("missing", .red)
        case .unreadable: Piece("not a text", .red)
        case .value(let value): Piece(value)
        }
    }

    /// Text of the token's creator, which must not look like our words.
    private func name(_ stated: Stated<String>) -> Piece { text(stated.map(Printable.name)) }

    private static func words(_ list: [String]) -> String { list.map(Printable.name).joined(separator: ", ") }

    private var audience: Piece {
        switch statement.audience {
        case .missing: return Piece("missing", .red)
        case .unreadable: return Piece("not a text", .red)
        case .value(let list):
            let isApple = list == [Claims.audience] && !statement.audienceIsList
            let note =
                isApple
                ? "" : " (Apple accepts only \(Claims.audience)\(statement.audienceIsList ? ", not a list" : ""))"
            return Piece(Self.words(list) + note, isApple ? nil : .red)
        }
    }

    private func moment(_ stated: Stated<NumericDate>) -> Piece {
        switch stated {
        case .missing: Piece("missing", .red)
        case .unreadable: Piece("not a time", .red)
        case .value(.whole(let moment)): Piece(TimeWords.full(moment, to: now))
        case .value(.fractional(let seconds)):
            Piece(
                stated.value?.moment.map { TimeWords.full($0, to: now) + ", with a fraction of a second" }
                    ?? "\(seconds), which is not a time", stated.value?.moment == nil ? .red : nil)
        }
    }

    private func life(_ terminal: Terminal) -> Piece? {
        guard let issued = statement.issuedAt.value?.moment, let end = statement.expiresAt.value?.moment else {
            return nil
        }
        // Our secrets are minted that long after their `iat`.
        let start = form != nil ? issued + Claims.backdating : issued
        guard start < end else { return nil }
        let bar = LifetimeBar.text(from: start, to: end, at: now, cells: 30, unicode: terminal.unicode)
        let rest = isExpired ? "nothing left" : "\(lifeLeft) left"
        return Piece("\(bar)  \(rest) of \(TimeWords.span(end - start))", isExpired ? .red : .green)
    }

    private var signature: Piece {
        switch signatureVerified {
        case nil: Piece("not checked; give a key with --key")
        case true? where keyFileID.map { statement.keyID.value != $0.description } == true && !isGood:
            Piece("made by this key, whose id is \(keyFileID?.description ?? "another") by its file's name", .red)
        case true?: Piece("made by this key", .green)
        case false? where !objections.contains(.unsigned): Piece("of a form that Apple refuses", .red)
        case false?: Piece("not made by this key", .red)
        }
    }
}
