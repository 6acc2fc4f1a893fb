package import AppleClientSecret
package import Failures
package import Model

// The status document is the snapshot: the answer to `GET /v1/status`, and a client's view the one to `GET /v1/clients/NAME`. The
// daemon writes the parts that are listed here and the commands read them, in this order; other parts are internal.

extension Snapshot: JSONDocument {
    package init(_ snapshot: Snapshot?, _ members: inout JSONMembers) throws(JSONError) {
        let version = try members("version", snapshot?.version)
        let health = try members("state", snapshot?.health)
        let report = try members.reason(snapshot?.reasonReport)
        let problems = try members.unlessEmpty("problems", snapshot?.problemReports)
        self.init(
            startedAt: try members("started_at", snapshot?.startedAt), ready: snapshot?.ready ?? true, health: health,
            reason: snapshot?.reason, clockTrusted: snapshot?.clockTrusted ?? true,
            configuration: try members("config", snapshot?.configuration),
            clients: try members("clients", snapshot?.clients))
        self.version = version
        readReason = report
        readProblems = problems ?? []
    }

    /// The reason in words; nil when everything is ok.
    package var reasonReport: ReasonReport? { reason.map(ReasonReport.init) ?? readReason }

    /// The daemon's own problems in words.
    package var problemReports: [ReasonReport] { problems.map(ReasonReport.init) + readProblems }
}

extension ConfigurationView: JSONDocument {
    package init(_ view: ConfigurationView?, _ members: inout JSONMembers) throws(JSONError) {
        self.init(
            path: try members("path", view?.path), loadedAt: try members("loaded_at", view?.loadedAt),
            error: try members.orNull("error", view?.error))
    }
}

extension ClientView: JSONDocument {
    package init(_ view: ClientView?, _ members: inout JSONMembers) throws(JSONError) {
        let name = try members("name", view?.name)
        let identifier = try members.orNull("client_id", view?.clientID.identifier)
        let kind = try members.orAbsent("kind", view?.clientID.kind) ?? .signIn
        guard let clientID = view?.clientID ?? Self.client(identifier, of: kind) else {
            throw .unexpected("expected an id", at: "client_id")
        }
        let team = try members("team_id", view?.team)
        let keyID = try members("key_id", view?.keyID)
        let health = try members("state", view?.health)
        let report = try members.reason(view?.reasonReport)
        let issuedAt = try members.orNull("issued_at", view?.current?.issuedAt)
        let expiresAt = try members.orNull("expires_at", view?.current?.expiresAt)
        let deliveredExpiresAt = try members.orNull("delivered_expires_at", view?.deliveredExpiresAt)
        let renewAt = try members.orNull("renew_at", view?.renewAt)
        let fingerprint = try members.orNull("fingerprint", view?.current?.fingerprint)
        var current = view?.current
        if current == nil, let issuedAt, let expiresAt, let fingerprint {
            let claims = Claims(
                issuer: team, keyID: keyID, subject: clientID, issuedAt: issuedAt, expiresAt: expiresAt)
            current = SecretInfo(fingerprint: fingerprint, claims: claims, signer: nil)
        }
        self.init(
            name: name, clientID: clientID, team: team, keyID: keyID, health: health, reason: view?.reason,
            current: current, deliveredExpiresAt: deliveredExpiresAt, renewAt: renewAt,
            renewals: try members("renewals", view?.renewals), counts: view?.counts ?? ClientCounts(),
            lastSuccessAt: view?.lastSuccessAt,
            consecutiveFailures: try members("consecutive_failures", view?.consecutiveFailures),
            lastError: try members.orNull("last_error", view?.lastError),
            delivered: try members("delivered", view?.delivered), outputs: try members("outputs", view?.outputs),
            actions: try members("actions", view?.actions),
            verification: try members.orNull("verification", view?.verification),
            source: try members.orNull("source", view?.source))
        readReason = report
    }

    /// The client that the document names as the tokens' subject: it contains no origin and no scope.
    private static func client(_ identifier: String?, of kind: TokenKind) -> ClientID? {
        switch kind {
        case .signIn, .appleAds: identifier.flatMap { ClientID(identifier: $0) }
        case .music: .music()
        case .maps: .maps()
        }
    }

    /// The reason in words; nil when the client is ok.
    package var reasonReport: ReasonReport? { reason.map(ReasonReport.init) ?? readReason }
}

extension OutputView: JSONDocument {
    package init(_ view: OutputView?, _ members: inout JSONMembers) throws(JSONError) {
        let path = try members.orNull("path", view?.path)
        let target = try members.orAbsent("target", view?.target)
        let format = try members.orNull("format", view?.format)
        let state = try members("state", view?.state)
        let writtenAt = try members.orNull("written_at", view?.writtenAt)
        let error = try members.orNull("error", view?.error)
        guard let target else {
            guard let path, let format else { throw .unexpected("an output has neither a path nor a target") }
            self.init(
                path: path, format: format, state: state, writtenAt: writtenAt, error: error,
                repairs: view?.repairs ?? 0)
            readRemedy = try members.remedy(view?.remedy)
            return
        }
        self.init(
            target: target, verified: try members.orNull("verified", view?.verified), state: state,
            writtenAt: writtenAt, error: error, repairs: view?.repairs ?? 0)
        deployed = try members.orAbsent("deployed", view?.deployed)
        readRemedy = try members.remedy(view?.remedy)
    }

    /// The remedy of its error; nil if none is known.
    package var remedy: Remedy? { failure?.remedy ?? readRemedy }
}

extension SourceView: JSONDocument {
    package init(_ view: SourceView?, _ members: inout JSONMembers) throws(JSONError) {
        let kind = try members("kind", view?.kind)
        self.init(
            place: try members("place", view?.place), state: try members("state", view?.state),
            since: try members("since", view?.since))
        self.kind = kind
    }
}

extension ActionView: JSONDocument {
    package init(_ view: ActionView?, _ members: inout JSONMembers) throws(JSONError) {
        self.init(
            action: try members("action", view?.action), state: try members("state", view?.state),
            ranAt: try members.orNull("ran_at", view?.ranAt), error: try members.orNull("error", view?.error),
            waitsFor: try members.orAbsent("waits_for", view?.waitsFor))
        readRemedy = try members.remedy(view?.remedy)
    }

    /// The remedy of its error; nil if none is known.
    package var remedy: Remedy? { failure?.remedy ?? readRemedy }
}

extension VerificationView: JSONDocument {
    package init(_ view: VerificationView?, _ members: inout JSONMembers) throws(JSONError) {
        self.init(
            fingerprint: try members("fingerprint", view?.fingerprint),
            verdict: try members("verdict", view?.verdict), askedAt: try members.orNull("asked_at", view?.askedAt),
            code: try members.orNull("code", view?.code))
    }
}

// MARK: Reasons

extension JSONMembers {
    /// Two members, left out without a remedy.
    fileprivate mutating func remedy(_ remedy: Remedy?) throws(JSONError) -> Remedy? {
        let words = try orAbsent("remedy", remedy?.description)
        let command = try orAbsent("command", remedy?.command)
        return words.map { .reported($0, command: command) }
    }

    /// Two members: the whole reason on one line, null when there is none, and its parts, left out when there is none.
    fileprivate mutating func reason(_ report: ReasonReport?) throws(JSONError) -> ReasonReport? {
        let sentence = try orNull("reason", report?.sentence)
        let failure = try orAbsent("failure", report?.failure)
        return sentence.map { ReasonReport(sentence: $0, failure: failure) }
    }
}

extension ReasonReport {
    init(_ reason: Reason) {
        let remedy = reason.failure.remedy
        self.init(
            sentence: reason.sentence,
            failure: FailureReport(
                code: reason.failure.code.rawValue, message: reason.message, since: reason.since,
                nextAttempt: reason.nextAttempt, remedy: remedy?.description, command: remedy?.command))
    }
}

extension ReasonReport: JSONDocument {
    package init(_ report: ReasonReport?, _ members: inout JSONMembers) throws(JSONError) {
        guard let report = try members.reason(report) else { throw .unexpected("'reason' is missing") }
        self = report
    }
}

extension FailureReport: JSONDocument {
    package init(_ report: FailureReport?, _ members: inout JSONMembers) throws(JSONError) {
        self.init(
            code: try members("code", report?.code), message: try members("message", report?.message),
            since: try members("since", report?.since),
            nextAttempt: try members.orNull("next_attempt", report?.nextAttempt),
            remedy: try members.orNull("remedy", report?.remedy),
            command: try members.orNull("command", report?.command))
    }
}

// MARK: Values

extension OutputView.State: JSONString {}
extension ActionView.State: JSONString {}
extension ActionView.Wait: JSONString {}
extension SourceView.State: JSONString {}
extension VerificationView.Verdict: JSONString {}

extension FileFormat: JSONString {
    package var jsonString: String { name }

    package init?(jsonString text: String) { self.init(name: text) }
}
