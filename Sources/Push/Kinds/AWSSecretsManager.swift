import AppleClientSecret
import Failures

extension PushKind {
    /// The string, or a member of the JSON object in it if `field` has a value. A write replaces all of it.
    static let awsSecretsManager = PushKind(
        name: "aws_secrets_manager",
        settings: [
            PushSetting(name: "region", advice: "the region, such as eu-central-1"),
            PushSetting(name: "secret_id", advice: "the secret's name or ARN", isPath: true),
            PushSetting(name: "field", standard: "", advice: "the member's name, where the secret is a JSON object"),
        ], endpoint: "https://secretsmanager.{{region}}.amazonaws.com",
        authorization: .awsSignature(service: "secretsmanager"),
        document: Document(member: "field", name: "secret_id"),
        merge: { exchange, found throws(RoleFailure) in try exchange.mergeString(found) },
        write: aws(
            "PutSecretValue",
            #"{"SecretId":{{secret_id}},"ClientRequestToken":{{request_id}},"SecretString":{{merged_text}}}"#),
        read: aws("GetSecretValue", #"{"SecretId":{{secret_id}}}"#),
        shape: [
            AnswerShape(
                at: ["SecretBinary"], is: [.absent, .null], otherwise: "it is stored as binary",
                meaning: .pushPlaceUnsuitable),
            AnswerShape(at: ["SecretString"], is: [.text]),
        ],
        shown: shownByAWS, creation: Creation(shape: [AnswerShape(at: ["__type"], is: [.text])]),
        errors: [
            ErrorRule(contains: ["ResourceNotFoundException"], meaning: .pushPlaceMissing),
            ErrorRule(contains: ["Throttling", "TooManyRequests"], meaning: .pushRateLimited),
            // Comes with the status and the type of a wrong signature.
            ErrorRule(
                contains: [
                    "Signature expired", "Signature not yet current", "RequestExpired", "RequestTimeTooSkewed",
                ],
                meaning: .pushClockRefused),
            ErrorRule(contains: ["LimitExceededException"], meaning: .pushQuotaExceeded),
            ErrorRule(
                contains: [
                    "AccessDenied", "UnrecognizedClient", "InvalidSignature", "SignatureDoesNotMatch",
                    "IncompleteSignature", "ExpiredToken", "InvalidClientTokenId", "MissingAuthenticationToken",
                    "NotAuthorized",
                ], meaning: .pushCredentialsRefused),
            ErrorRule(contains: ["InternalServiceError"], meaning: .pushServerFailed),
        ])

    private static func aws(_ operation: String, _ body: String) -> PushRequest {
        PushRequest(
            "POST", "/",
            headers: [
                .init("X-Amz-Target", "secretsmanager.\(operation)"),
                .init("Content-Type", "application/x-amz-json-1.1"),
            ], body: .json(body))
    }

    @Sendable private static func shownByAWS(_ exchange: inout PushExchange, _ answer: HTTPAnswer) -> ShownSecret {
        let shown = exchange.json(answer)?["SecretString"]
        let member = exchange.values["field", default: ""]
        guard !member.isEmpty else { return ShownSecret(shown, expected: exchange.secretText) }
        guard let text = shown?.text, !PushExchange.isBlank(text) else { return .empty }
        do throws(JSONError) {
            guard case .object(let members) = try JSONValue(Array(text.utf8)) else { return .another(.unusable) }
            return ShownSecret(members[member], expected: exchange.secretText)
        } catch {
            // An application may read JSON, which is not read here.
            return .another(error == .notJSON ? .unusable : .something)
        }
    }
}

extension PushExchange {
    /// Between two writes of this daemon, in seconds: AWS keeps a hundred versions and asks for no more than that.
    private static let writePause: Seconds = 600
    /// The prefix of this daemon's versions.
    private static let versionPrefix = "clientsecretd-"

    /// Sets the text that is written, and a new version's id.
    fileprivate mutating func mergeString(_ found: Found) throws(RoleFailure) {
        var text = "{}"
        if !found.isMissing {
            guard let current = json(found.answer) else { throw RoleFailure(.pushAnswerUnexpected) }
            text = current["SecretString"]?.text ?? ""
            try checkString(text)
            if values["field", default: ""].isEmpty { try checkWhole(text, isOwn: isOwnVersion(current)) }
            try waitForTurn(current, date: found.answer.date)
        }
        // The answer may be older than our own write. The place is read again in a minute: AWS may show the write then.
        if let writtenAt, let now = found.answer.moment { try wait(since: writtenAt, date: now, atMost: 60) }
        values["request_id"] = Self.versionPrefix + Hex.encode((0..<24).map { _ in UInt8.random(in: 0 ... .max) })
        let member = values["field", default: ""]
        guard !member.isEmpty else {
            values["merged_text"] = secretText
            return
        }
        if Self.isBlank(text) { text = "{}" }
        values["merged_text"] = try mergedWithOthers(as: member, into: Array(text.utf8))
    }

    /// Throws if a text is of another kind than the one to write: a document instead of one value, or a member that is no text.
    private func checkString(_ text: String) throws(RoleFailure) {
        let name = values["field", default: ""]
        let value = try? JSONValue(Array(text.utf8), duplicates: .lastCounts)
        let form = value.map { AnswerShape.Form($0) }
        guard !name.isEmpty else {
            let bare = Self.bare(text)
            let isDocument = form == .object || form == .array || bare.first == "{" || bare.first == "["
            let hasLines = bare.split(whereSeparator: \.isNewline).count > 1
            guard isDocument || hasLines else { return }
            let what =
                value != nil && isDocument
                ? AnswerShape.describe(Array(text.utf8))
                : isDocument ? "what looks like JSON" : "a text of several lines"
            let end = form == .object ? " without a \"field\"" : ""
            throw RoleFailure(.pushPlaceUnsuitable, hidden.words("it holds \(what), which would be lost\(end)"))
        }
        let member = AnswerShape.Form(value?[name])
        guard ![.text, .null, .absent].contains(member) else { return }
        throw RoleFailure(.pushPlaceUnsuitable, "\(Printable.name(name)) is \(member.rawValue) there")
    }

    private func isOwnVersion(_ current: JSONValue) -> Bool {
        current["VersionId"]?.text?.hasPrefix(Self.versionPrefix) == true
    }

    /// Throws while this daemon's last version is too recent to be replaced.
    private func waitForTurn(_ current: JSONValue, date: WallTime?) throws(RoleFailure) {
        guard isOwnVersion(current), let date else { return }
        let created: Int64? =
            switch current["CreatedDate"] {
            case .integer(let seconds): seconds
            case .fraction(let seconds): Int64(exactly: seconds.rounded())
            default: nil
            }
        if let created { try wait(since: WallTime(secondsSinceEpoch: created), date: date) }
    }

    /// Throws while a write is too recent.
    private func wait(
        since write: WallTime, date: WallTime, atMost bound: Seconds = writePause
    ) throws(RoleFailure) {
        let rest = write + Self.writePause - date
        if rest > 0, rest <= Self.writePause {
            throw RoleFailure(
                .pushRateLimited,
                "clientsecretd writes it at most every ten minutes, because AWS keeps a hundred versions",
                retryAfter: Int(min(rest, bound).count))
        }
    }
}
