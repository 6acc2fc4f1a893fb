package import AppleClientSecret
import Failures
package import SignIn

/// Pushes one secret to one place behind an API, or checks whether that holds it. What is particular to an API is data: see
/// ``PushKind``.
///
/// The rules are:
/// - Only the statuses that the kind lists mean success; a redirect does not.
/// - What can be read is read first. Nothing is written unless the answer has the form of this API and of this kind of value, or
///   reports in the API's own way that there is nothing yet. A secret that is there already is not written again.
/// - What the API can show is read back after writing. What it shows then may be older than the write.
/// - Where other things are kept beside the secret, they are written back as they were.
/// - Other targets' secrets that belong into the same document are written with this one, in one request.
/// - A status that means a refused token means a refused change where the API took the token a moment ago.
/// - Of what the API says, the known members of an error are reported, in 200 characters at most, without secret and token.
package struct PushExchange {
    let target: PushTarget
    let token: String
    /// The members that are written with the secret, and their texts.
    let others: [(member: String, text: String)]
    private let send: (PushHTTPRequest) -> Result<PushHTTPAnswer, TransportFailure>
    private let sha256: ([UInt8]) -> [UInt8]
    let secretText: String
    /// Settings and what the exchange has learnt; those in ``plainNames`` stand for themselves in JSON.
    var values: [String: String]
    /// What `Authorization` holds for a kind with a login.
    private(set) var session: String?
    /// The digest that was shown before the write; nil for a kind that shows none.
    private var digest: String?
    /// Whether the API has taken the token, in a login or for reading.
    private var isTokenTaken = false

    /// How often what somebody else changed meanwhile is read again.
    private static let attempts = 3
    /// - Parameters:
    ///   - token: the content of the token's place; empty where there is none.
    ///   - others: secrets of other targets with members of the same document, by their members' names.
    ///   - send: sends one request.
    package init(
        target: PushTarget, token: String, secret: Token, others: [String: Token] = [:],
        sha256: @escaping ([UInt8]) -> [UInt8],
        send: @escaping (PushHTTPRequest) -> Result<PushHTTPAnswer, TransportFailure>
    ) {
        self.target = target
        self.token = token
        self.send = send
        self.sha256 = sha256
        secretText = secret.withBytes { String(decoding: $0, as: UTF8.self) }
        self.others = others.sorted { $0.key < $1.key }.map { member, token in
            (member, token.withBytes { String(decoding: $0, as: UTF8.self) })
        }
        values = target.settings
        values["client_secret"] = secretText
        values["client_secret_base64"] = Base64.encode(Array(secretText.utf8))
    }

    /// Does what is asked.
    package mutating func run(_ verb: PushQuestion.Verb) -> PushResult {
        do throws(RoleFailure) {
            if verb == .read, !target.kind.shown.isSomething { return .read(holds: nil) }
            try logIn()
            switch verb {
            case .publish: return .published(verified: try publish())
            case .read:
                // A place that is gone holds nothing. That is no failure, after which it would only be read again: the
                // answer causes a push, which creates the place or fails with the reason.
                guard case .found(let answer) = try look() else { return .read(holds: false) }
                return .read(holds: holds(answer))
            case .redeploy: return .redeployed(ready: try redeploy())
            }
        } catch {
            return .failed(error)
        }
    }

    // MARK: Steps

    private mutating func logIn() throws(RoleFailure) {
        guard case .login(let request, let pointer) = target.kind.authorization else { return }
        values["token"] = token
        defer { values["token"] = nil }
        let answer: PushHTTPAnswer
        do throws(RoleFailure) {
            answer = try self.answer(to: request)
        } catch {
            // Which of name and password is wrong is not said, nor whether the request as such is.
            throw error.code == .pushRejected
                ? RoleFailure(.pushCredentialsRefused, error.detail, retryAfter: error.retryAfter) : error
        }
        guard let session = json(answer)?[pointer]?.text, !session.isEmpty else {
            throw RoleFailure(.pushAnswerUnexpected, "there is no token in the answer to the login")
        }
        self.session = session
    }

    private mutating func publish() throws(RoleFailure) -> Bool? {
        var attempt = 1
        while true {
            do throws(RoleFailure) {
                if try prepare() { return true }
                _ = try answer(to: target.kind.write, isChange: true)
                break
            } catch {
                guard error.code == .pushConflict, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
        guard target.kind.shown.isSomething else { return nil }
        do throws(RoleFailure) {
            let before = digest
            guard case .found(let answer) = try look() else { return false }
            // A digest that cannot be recognised would have changed at least.
            return holds(answer) ?? (before != nil && before == shownDigest(answer) ? false : nil)
        } catch {
            // The API has taken the secret. Whether it shows it is looked at again.
            return false
        }
    }

    /// Reads what is there and sets the values that are made of it; returns whether the secret is there already.
    private mutating func prepare() throws(RoleFailure) -> Bool {
        guard target.kind.read != nil else { return false }
        switch try look() {
        case .found(let answer):
            digest = shownDigest(answer)
            if target.kind.shown.isSomething, holds(answer) == true { return true }
            if let merge = target.kind.merge { try self.merge(merge, with: answer) }
        case .missing(let answer, let failure):
            guard let creation = target.kind.creation else { throw failure }
            try confirm(creation, answer, failure)
            if let merge = target.kind.merge { try create(merge, answer) }
        }
        return false
    }

    /// What the place was found to hold.
    enum Found {
        /// An answer with the form of ``PushKind/shape``.
        case found(PushHTTPAnswer)
        /// The API's own answer that there is nothing, and the failure that it is where nothing can be created.
        case missing(PushHTTPAnswer, RoleFailure)
    }

    private mutating func look() throws(RoleFailure) -> Found {
        guard let read = target.kind.read else { throw RoleFailure(.pushUnconfigured) }
        let received = try received(read)
        if let failure = failure(of: received, to: read) {
            guard failure.code == .pushPlaceMissing else { throw failure }
            guard isOfAPI(received, to: read) || target.kind.isCustom else {
                throw RoleFailure(.pushAnswerUnexpected, failure.detail)
            }
            guard Shape.fits(target.kind.creation?.shape ?? [], json(received) ?? .null, filled) else { throw failure }
            // Rights are judged before anything is looked for; a user's own API may do as it likes.
            isTokenTaken = !target.kind.isCustom
            return .missing(received, failure)
        }
        isTokenTaken = true
        try check(received, target.kind.shape)
        return .found(received)
    }

    /// Throws unless an answer has the form that it has to have.
    func check(_ answer: PushHTTPAnswer, _ shapes: [Shape]) throws(RoleFailure) {
        guard !shapes.isEmpty else { return }
        guard let json = json(answer) else { throw RoleFailure(.pushAnswerUnexpected, detail(of: answer)) }
        for shape in shapes {
            guard let words = shape.mismatch(json, at: filled(shape.pointer)) else { continue }
            throw RoleFailure(shape.meaning, hidden.words(words))
        }
    }

    /// Throws unless the write creates what it is meant to.
    private mutating func confirm(
        _ creation: PushKind.Creation, _ missing: PushHTTPAnswer, _ failure: RoleFailure
    ) throws(RoleFailure) {
        if let misplaced = target.kind.misplaced(in: values).first {
            throw RoleFailure(.pushPlaceMissing, Printable.line(misplaced.words))
        }
        guard let confirmation = creation.confirmation else { return }
        if let json = json(missing), !creation.evident.isEmpty, Shape.fits(creation.evident, json, filled) { return }
        let received = try received(confirmation)
        if let refusal = self.failure(of: received, to: confirmation) {
            throw RoleFailure(
                .pushPlaceMissing,
                "there is nothing yet, and that \(creation.doubt) is not shown to this token (\(refusal.detail ?? ""))")
        }
        try check(received, creation.confirmed)
    }

    func filled(_ pointer: [String]) -> [String] {
        pointer.map { PushTemplate.expand($0, values) { value, _ in value } }
    }

    // MARK: Answers

    /// The answer to a request; throws for one that does not mean success.
    ///
    /// - Parameter isChange: whether the request changes something.
    mutating func answer(to request: PushRequest, isChange: Bool = false) throws(RoleFailure) -> PushHTTPAnswer {
        let received = try received(request)
        guard let failure = failure(of: received, to: request) else {
            if !isChange { isTokenTaken = true }
            return received
        }
        // The API took the token a moment ago: what it refuses is this change.
        throw failure.code == .pushCredentialsRefused && isChange && isTokenTaken
            ? RoleFailure(.pushChangeRefused, failure.detail, retryAfter: failure.retryAfter) : failure
    }

    /// The answer to a request, whatever it is.
    private func received(_ request: PushRequest) throws(RoleFailure) -> PushHTTPAnswer {
        switch send(try expanded(request)) {
        case .failure(let failure): throw RoleFailure(failure, hidden)
        case .success(let answer): return answer
        }
    }

    /// What an answer means; nil for success.
    private func failure(of answer: PushHTTPAnswer, to request: PushRequest) -> RoleFailure? {
        let rule = target.kind.errors.first { $0.fits(answer) }
        if rule == nil, request.done.contains(answer.status) {
            guard answer.status != 204, !isOfAPI(answer, to: request) else { return nil }
            return RoleFailure(.pushAnswerUnexpected, detail(of: answer))
        }
        return RoleFailure(
            rule?.meaning ?? Self.meaning(of: answer.status), detail(of: answer), retryAfter: answer.retryAfter)
    }

    /// Whether the API itself has answered, and not a proxy with a page and status 200: all these APIs answer with a JSON
    /// object. The answer to a write of the kind `http` may be anything; what it shows when read back is JSON.
    private func isOfAPI(_ answer: PushHTTPAnswer, to request: PushRequest) -> Bool {
        if target.kind.isCustom { return request.method != "GET" || json(answer) != nil }
        if case .object? = json(answer) { return true }
        return false
    }

    private static func meaning(of status: Int) -> FailureCode {
        switch status {
        case 300..<400: .pushRedirected
        case 401, 403: .pushCredentialsRefused
        case 402, 507: .pushQuotaExceeded
        case 404, 410: .pushPlaceMissing
        case 409, 412: .pushConflict
        case 429: .pushRateLimited
        case 408, 500...: .pushServerFailed
        case 400..<500: .pushRejected
        default: .pushAnswerUnexpected
        }
    }

    /// What must not be shown.
    var hidden: HiddenTexts {
        HiddenTexts([secretText, token, session ?? ""] + others.map(\.text) + AWSCredentials.texts(in: token))
    }

    /// The status, and what the API said.
    private func detail(of answer: PushHTTPAnswer) -> String {
        guard let json = json(answer), let words = ErrorWords.of(json) else {
            return "it answered \(answer.status)"
                + (answer.body.isEmpty ? "" : " with " + hidden.words(Shape.describe(answer.body)))
        }
        return "it answered \(answer.status): \(hidden.words(words))"
    }

    func json(_ answer: PushHTTPAnswer) -> JSONValue? {
        try? JSONValue(answer.body)
    }

    private func shownDigest(_ answer: PushHTTPAnswer) -> String? {
        guard case .hmac(let pointer, _) = target.kind.shown else { return nil }
        return json(answer)?[filled(pointer)]?.text
    }

    /// Whether the answer shows the secret; nil where it shows nothing of it.
    private func holds(_ answer: PushHTTPAnswer) -> Bool? {
        func text(_ pointer: [String]) -> String? { json(answer)?[filled(pointer)]?.text }
        switch target.kind.shown {
        case .nothing: return nil
        case .value(let pointer): return text(pointer) == secretText
        case .base64(let pointer): return text(pointer) == values["client_secret_base64"]
        case .hmac(let pointer, let setting):
            guard let shown = text(pointer) else { return nil }
            if shown == secretText { return true }
            let digest = HMAC.hexadecimal(
                Array(secretText.utf8), key: Array(values[setting, default: ""].utf8), sha256: sha256)
            return shown.lowercased() == digest ? true : (shown.isEmpty || shown.hasPrefix("eyJ") ? false : nil)
        case .text(let pointer, let setting):
            guard let shown = text(pointer) else { return false }
            let member = values[setting, default: ""]
            if member.isEmpty { return shown == secretText }
            return (try? JSONValue(Array(shown.utf8)))?[member]?.text == secretText
        }
    }
}

extension PushKind.ErrorRule {
    fileprivate func fits(_ answer: PushHTTPAnswer) -> Bool {
        if let status, status != answer.status { return false }
        if status == nil, answer.status < 400 { return false }
        let text = String(decoding: answer.body, as: UTF8.self)
        return contains.contains { text.range(of: $0) != nil }
    }
}
