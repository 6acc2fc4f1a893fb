import AppleClientSecret
import Failures

/// The API's answers, and their meaning.
extension PushExchange {
    /// The answer to a request; throws for one that does not mean success.
    ///
    /// - Parameter isChange: whether the request changes something.
    mutating func answer(to request: PushRequest, isChange: Bool = false) throws(RoleFailure) -> HTTPAnswer {
        let received = try received(request)
        guard let failure = failure(of: received, to: request) else {
            if !isChange { isTokenTaken = true }
            return received
        }
        // The API took the token a moment ago, or was not asked: it refuses this change.
        let isOfChange = isChange && (isTokenTaken || target.kind.read == nil)
        throw failure.code == .pushCredentialsRefused && isOfChange
            ? RoleFailure(.pushChangeRefused, failure.detail, retryAfter: failure.retryAfter) : failure
    }

    /// The answer to a request, whatever it is.
    mutating func received(_ request: PushRequest) throws(RoleFailure) -> HTTPAnswer {
        switch send(try expanded(request)) {
        case .failure(let failure):
            wasSent = failure.mayBeSent
            throw RoleFailure(failure, hidden)
        case .success(let answer):
            wasSent = true
            clock = answer.moment
            return answer
        }
    }

    /// The meaning of an answer about a place; nil for success. Only the API itself reports that there is nothing, in JSON as
    /// it reports errors.
    func failureOfReading(_ answer: HTTPAnswer, _ request: PushRequest) -> RoleFailure? {
        guard let failure = failure(of: answer, to: request) else { return nil }
        let isBeyondReading = failure.code == .pushAnswerUnexpected && isBeyondReading(answer)
        if isBeyondReading { return RoleFailure(.pushPlaceUnsuitable, failure.detail) }
        // A user's own API may say so without a word.
        let isSilent = target.kind.isCustom && answer.body.isEmpty && !answer.isBodyLeftOut
        guard failure.code == .pushPlaceMissing, !isError(answer), !isSilent else { return failure }
        return RoleFailure(
            .pushAnswerUnexpected,
            (failure.detail ?? "") + "; only with a JSON object does that mean that nothing is there yet",
            retryAfter: failure.retryAfter)
    }

    /// The meaning of an answer; nil for success.
    func failure(of answer: HTTPAnswer, to request: PushRequest) -> RoleFailure? {
        // A read may show any text, such as a commit's message. Only the write's own answer shows that it failed after all.
        let write = target.kind.write
        let isWrite = request.method == write.method && request.path == write.path
        let rule = answer.status < 300 && !isWrite ? nil : target.kind.errors.first { $0.fits(answer) }
        if rule == nil, request.done.contains(answer.status) {
            guard answer.status != 204, !isOfAPI(answer, to: request) else { return nil }
            return RoleFailure(.pushAnswerUnexpected, detail(of: answer))
        }
        var detail = detail(of: answer)
        if rule?.meaning == .pushClockRefused, let own = answer.receivedAt, let theirs = answer.date {
            let (span, side) = own < theirs ? (theirs - own, "behind") : (own - theirs, "ahead of")
            detail = "this machine's clock is \(span.count) s \(side) the API's; " + detail
        }
        // The API of a target that describes its requests itself may mean success.
        let isUnlisted = target.kind.isCustom && isWrite && (200..<300).contains(answer.status)
        return RoleFailure(
            rule?.meaning ?? (isUnlisted ? .pushStatusNotListed : Self.meaning(of: answer.status)), detail,
            retryAfter: answer.retryAfter)
    }

    /// Whether the API itself has answered, and not a proxy with a page and status 200: all these APIs answer with JSON. The
    /// answer to a write of the kind `http` may be anything, but its read answers are JSON.
    private func isOfAPI(_ answer: HTTPAnswer, to request: PushRequest) -> Bool {
        if target.kind.isCustom { return request.method != "GET" || json(answer) != nil }
        return request.isList ? json(answer)?.elements != nil : isError(answer)
    }

    /// Whether an answer is a JSON object, as an API's errors are.
    func isError(_ answer: HTTPAnswer) -> Bool {
        if case .object? = json(answer) { true } else { false }
    }

    /// Whether an answer may be the API's, with another program's value that cannot be written back unchanged.
    private func isBeyondReading(_ answer: HTTPAnswer) -> Bool {
        do throws(JSONError) {
            _ = try JSONValue(answer.body)
            return false
        } catch {
            return error == .tooDeep || error == .numberTooLarge
        }
    }

    private static func meaning(of status: Int) -> FailureCode {
        switch status {
        case 300..<400: .pushRedirected
        case 401, 403: .pushCredentialsRefused
        case 402, 507: .pushQuotaExceeded
        case 404, 410: .pushPlaceMissing
        case 429: .pushRateLimited
        case 408, 500...: .pushServerFailed
        case 400..<500: .pushRejected
        default: .pushAnswerUnexpected
        }
    }

    /// Secrets that must not be shown.
    var hidden: EchoedSecrets {
        var tokens = [token]
        // The API gets only these parts of the text. The names next to them are also in its messages.
        if case .awsSignature = target.kind.authorization { tokens = AWSCredentials(token)?.texts ?? [] }
        return EchoedSecrets([secretText, session ?? ""] + tokens + others.map(\.text))
    }

    /// The status, and the API's message.
    func detail(of answer: HTTPAnswer) -> String {
        guard let json = json(answer), let words = ErrorMembers.of(json) else {
            return "it answered \(answer.status)"
                + (answer.body.isEmpty ? "" : " with " + hidden.words(AnswerShape.describe(answer.body)))
        }
        return "it answered \(answer.status): \(hidden.words(words))"
    }

    func json(_ answer: HTTPAnswer) -> JSONValue? {
        try? JSONValue(answer.body)
    }

    /// A JSON object with the secret as its member, and with the secrets of other targets as theirs. What another target finds
    /// in its member must not keep this secret out: such a member stays unchanged, and its own push reports why.
    func mergedWithOthers(as member: String, into object: [UInt8]) throws(RoleFailure) -> String {
        let members = try? JSONValue(object)
        var object = object
        for other in others where mayWrite(over: members?[other.member]) {
            object = Array(try merged(other.text, as: other.member, into: object).utf8)
        }
        return try merged(secretText, as: member, into: object)
    }

    /// Whether a secret may replace a document's member: a text that is no private key, or nothing.
    private func mayWrite(over value: JSONValue?) -> Bool {
        guard [.text, .null, .absent].contains(AnswerShape.Form(value)) else { return false }
        if case .unwritable = PushKind.ShownSecret(value, expected: "") { return false }
        return true
    }

    /// A JSON object with a text as its member.
    private func merged(_ text: String, as member: String, into object: [UInt8]) throws(RoleFailure) -> String {
        guard let merged = JSONEdit.setting(member, to: JSONText.string(text).bytes, in: object) else {
            throw RoleFailure(
                .pushPlaceUnsuitable,
                hidden.words("it holds \(AnswerShape.describe(object)), so the secret cannot be a member of it"))
        }
        return String(decoding: merged, as: UTF8.self)
    }
}

extension PushKind.ErrorRule {
    fileprivate func fits(_ answer: HTTPAnswer) -> Bool {
        if let status, status != answer.status { return false }
        if let listing {
            guard answer.status < 300, let listed = (try? JSONValue(answer.body))?[listing], !listed.isEmpty
            else { return false }
        } else if status == nil, answer.status < 400 {
            return false
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        return contains.isEmpty || contains.contains { text.contains($0) }
    }
}

extension JSONValue {
    /// Whether it lists nothing.
    fileprivate var isEmpty: Bool {
        switch self {
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        default: self == .null
        }
    }
}
