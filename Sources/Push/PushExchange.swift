package import AppleClientSecret
import Failures
import Formats
import Rotation
package import SignIn

/// Pushes one secret to one place behind an API, or checks whether that holds it. What is particular to an API is data: see
/// ``PushKind``.
///
/// The rules are:
/// - Only the statuses that the kind lists mean success; a redirect does not.
/// - What the API can show is read back after writing, and has to agree. A place that is missing holds nothing.
/// - Where other things are kept beside the secret, they are read, and written back as they were; a secret that is there
///   already is not written again.
/// - Other targets' secrets that belong into the same document are written with this one, in one request.
/// - What the API said is reported in 200 characters at most, without secret, token and what looks like one.
package struct PushExchange {
    let target: PushTarget
    private let token: String
    /// The members that are written with the secret, and their texts.
    private let others: [(member: String, text: String)]
    private let send: (PushHTTPRequest) -> Result<PushHTTPAnswer, TransportFailure>
    private let sha256: ([UInt8]) -> [UInt8]
    private let secretText: String
    /// Settings and what the exchange has learnt; those in ``plainNames`` stand for themselves in JSON.
    var values: [String: String]
    /// What `Authorization` holds for a kind with a login.
    private var session: String?

    /// How often what somebody else changed meanwhile is read again.
    private static let attempts = 3
    /// Between two writes of ours, in seconds: AWS keeps a hundred versions and asks for no more than that.
    private static let writePause: Int64 = 600
    /// What versions of ours begin with at AWS.
    private static let versionPrefix = "clientsecretd-"

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
        do throws(PushFailure) {
            try logIn()
            switch verb {
            case .publish: return .published(verified: try publish())
            case .read:
                guard let read = target.kind.read else { return .read(holds: nil) }
                do throws(PushFailure) {
                    return .read(holds: holds(try answer(to: read)))
                } catch {
                    // Not a failure, after which the place would only be read again: an answer that it does not hold the
                    // secret causes a push, which creates the place or fails with the reason.
                    guard error.code == .placeMissing else { throw error }
                    return .read(holds: false)
                }
            case .redeploy: return .redeployed(ready: try redeploy())
            }
        } catch {
            return .failed(error)
        }
    }

    // MARK: Steps

    private mutating func logIn() throws(PushFailure) {
        guard case .login(let request, let pointer) = target.kind.authorization else { return }
        values["token"] = token
        defer { values["token"] = nil }
        let answer: PushHTTPAnswer
        do throws(PushFailure) {
            answer = try self.answer(to: request)
        } catch {
            // Which of name and password is wrong is not said, nor whether the request as such is.
            throw error.code == .rejected
                ? PushFailure(.credentialsRefused, error.detail, retryAfter: error.retryAfter) : error
        }
        guard let session = json(answer)?[pointer]?.text, !session.isEmpty else {
            throw PushFailure(.answerUnexpected, "there is no token in the answer to the login")
        }
        self.session = session
    }

    private mutating func publish() throws(PushFailure) -> Bool? {
        var attempt = 1
        while true {
            do throws(PushFailure) {
                if try prepare() { return true }
                _ = try answer(to: target.kind.write)
                break
            } catch {
                guard error.code == .conflict, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
        guard let read = target.kind.read else { return nil }
        let holds = holds(try answer(to: read))
        if holds == false { throw PushFailure(.notHeld) }
        return holds
    }

    /// Reads what is there and sets the values that are made of it; returns whether the secret is there already.
    private mutating func prepare() throws(PushFailure) -> Bool {
        guard let merge = target.kind.merge, let request = target.kind.current else { return false }
        var found: PushHTTPAnswer?
        do throws(PushFailure) {
            found = try answer(to: request)
        } catch {
            if case .provider = merge { throw error }
            // There is no value yet; whether one can be created shows in the answer to the write.
            guard error.code == .placeMissing else { throw error }
            if case .member = merge { found = lastMissing }
        }
        let current = found.flatMap(json) ?? .null
        if target.kind.read != nil, let found, found.status == 200, holds(found) == true { return true }
        switch merge {
        case .member(let pointer, let setting, let version):
            let object = found.flatMap { found in
                JSONEdit.span(of: pointer, in: found.body).map { Array(found.body[$0]) }
            }
            let isObject = if case .object? = current[pointer] { true } else { false }
            values["version"] = String(current[version]?.whole ?? 0)
            values["merged"] = try merged(setting, into: isObject ? object ?? [] : Array("{}".utf8))
        case .text(let pointer, let setting):
            try waitForTurn(current, date: found?.date)
            values["request_id"] = Self.versionPrefix + (0..<3).map { _ in Self.randomDigits() }.joined()
            if values[setting, default: ""].isEmpty {
                values["merged_text"] = secretText
            } else {
                var text = current[pointer]?.text ?? "{}"
                for other in others { text = try merged(other.text, as: other.member, into: Array(text.utf8)) }
                values["merged_text"] = try merged(setting, into: Array(text.utf8))
            }
        case .provider(let pointer, let setting):
            let name = values[setting, default: ""]
            let providers = current[pointer]?["providers"]?.elements ?? []
            guard let found, let index = providers.firstIndex(where: { $0["name"]?.text == name }),
                let whole = JSONEdit.span(of: pointer, in: found.body),
                let place = JSONEdit.span(of: pointer + ["providers", String(index)], in: found.body),
                let provider = JSONEdit.setting(
                    "clientSecret", to: JSONText.string(secretText).bytes, in: Array(found.body[place]))
            else {
                throw PushFailure(.placeMissing, "there is no provider \(Printable.name(name)) in the collection")
            }
            values["merged"] = String(
                decoding: found.body[whole.lowerBound..<place.lowerBound] + provider
                    + found.body[place.upperBound..<whole.upperBound], as: UTF8.self)
        }
        return false
    }

    /// The object with the secret as the member that a setting names.
    private func merged(_ setting: String, into object: [UInt8]) throws(PushFailure) -> String {
        try merged(secretText, as: values[setting, default: ""], into: object)
    }

    private func merged(_ text: String, as member: String, into object: [UInt8]) throws(PushFailure) -> String {
        guard let merged = JSONEdit.setting(member, to: JSONText.string(text).bytes, in: object) else {
            throw PushFailure(.rejected, "what is there is no JSON object, so the secret cannot be a member of it")
        }
        return String(decoding: merged, as: UTF8.self)
    }

    /// Throws while the last version of ours is too recent to be replaced.
    private func waitForTurn(_ current: JSONValue, date: WallTime?) throws(PushFailure) {
        guard current["VersionId"]?.text?.hasPrefix(Self.versionPrefix) == true, let date else { return }
        let created: Int64? =
            switch current["CreatedDate"] {
            case .integer(let seconds): seconds
            case .fraction(let seconds): Int64(exactly: seconds.rounded())
            default: nil
            }
        guard let created else { return }
        let rest = created + Self.writePause - date.secondsSinceEpoch
        if rest > 0, rest <= Self.writePause {
            throw PushFailure(
                .rateLimited, "the secret was written less than ten minutes ago", retryAfter: Int(rest))
        }
    }

    private static func randomDigits() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    // MARK: Answers

    /// The last answer that reported no value: a value that was deleted still has a version.
    private var lastMissing: PushHTTPAnswer?

    mutating func answer(to request: PushRequest) throws(PushFailure) -> PushHTTPAnswer {
        switch send(try expanded(request)) {
        case .failure(let failure): throw PushFailure(failure)
        case .success(let answer):
            let rule = target.kind.errors.first { $0.fits(answer) }
            if rule == nil, request.done.contains(answer.status) {
                guard answer.status == 204 || isOfAPI(answer, to: request) else {
                    throw PushFailure(.answerUnexpected, detail(of: answer))
                }
                return answer
            }
            let code = rule?.meaning ?? Self.meaning(of: answer.status)
            if code == .placeMissing { lastMissing = answer }
            throw PushFailure(code, detail(of: answer), retryAfter: answer.retryAfter)
        }
    }

    /// Whether the API itself has answered, and not a proxy with a page and status 200: all these APIs answer with a JSON
    /// object. The answer to a write of the kind `http` may be anything; what it shows when read back is JSON.
    private func isOfAPI(_ answer: PushHTTPAnswer, to request: PushRequest) -> Bool {
        if case .ownHeaders = target.kind.authorization { return request.method != "GET" || json(answer) != nil }
        if case .object? = json(answer) { return true }
        return false
    }

    private static func meaning(of status: Int) -> PushFailure.Code {
        switch status {
        case 300..<400: .redirected
        case 401, 403: .credentialsRefused
        case 402, 507: .quotaExceeded
        case 404, 410: .placeMissing
        case 409, 412: .conflict
        case 429: .rateLimited
        case 408, 500...: .serverFailed
        case 400..<500: .rejected
        default: .answerUnexpected
        }
    }

    /// The status, and the beginning of what the API said.
    private func detail(of answer: PushHTTPAnswer) -> String {
        var text = String(decoding: answer.body.prefix(65_536), as: UTF8.self)
        let credentials =
            [secretText, token, session ?? ""] + others.map(\.text) + AWSCredentials.texts(in: token)
        for hidden in credentials where hidden.utf8.count >= 4 {
            text = text.split(separator: hidden, omittingEmptySubsequences: false).joined(separator: "(secret)")
        }
        let words = Redaction.plain(text).split { $0.isWhitespace }.joined(separator: " ")
        return "it answered \(answer.status)"
            + (words.isEmpty ? "" : ": " + Printable.clause(String(words.prefix(200))))
    }

    func json(_ answer: PushHTTPAnswer) -> JSONValue? {
        try? JSONValue(answer.body, duplicates: .refused)
    }

    /// Whether the answer shows the secret; nil where it shows nothing of it.
    private func holds(_ answer: PushHTTPAnswer) -> Bool? {
        func text(_ pointer: [String]) -> String? {
            json(answer)?[pointer.map { PushTemplate.expand($0, values) { value, _ in value } }]?.text
        }
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
            return (try? JSONValue(Array(shown.utf8), duplicates: .refused))?[member]?.text == secretText
        }
    }

    // MARK: Requests

    private func expanded(_ request: PushRequest) throws(PushFailure) -> PushHTTPRequest {
        let query = request.query.compactMap { field -> String? in
            let value = PushTemplate.expand(field.value, values, PushTemplate.percentEncoded)
            return value.isEmpty ? nil : field.name + "=" + value
        }.joined(separator: "&")
        let path = PushTemplate.expand(request.path, values, PushTemplate.percentEncoded)
        guard
            let address = PushAddress(
                target.endpoint + path + (query.isEmpty ? "" : "?" + query), allowingQuery: true)
        else { throw PushFailure(.unconfigured, "the target's settings make no usable address") }
        var headers = request.headers.map {
            (name: $0.name, value: PushTemplate.expand($0.value, values) { value, _ in value })
        }.filter { !$0.value.isEmpty }
        var signature: AWSSignature?
        switch target.kind.authorization {
        case .bearer: headers.append(("Authorization", "Bearer " + token))
        case .header(let name): headers.append((name, token))
        case .login: if let session { headers.append(("Authorization", session)) }
        case .ownHeaders:
            headers = request.headers.map {
                (name: $0.name, value: PushTemplate.expand($0.value, ["token": token]) { value, _ in value })
            }
        case .awsSignature(let service):
            guard let credentials = AWSCredentials(token) else {
                throw PushFailure(
                    .tokenUnusable, "it needs the lines AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…")
            }
            if let session = credentials.sessionToken { headers.append(("X-Amz-Security-Token", session)) }
            signature = AWSSignature(
                region: values["region", default: ""], service: service, keyID: credentials.keyID,
                secretKey: credentials.secretKey)
        }
        guard headers.allSatisfy({ $0.value.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) else {
            throw PushFailure(.tokenUnusable, "it holds characters that no header may have")
        }
        let body = try request.body.map { body throws(PushFailure) in try self.body(body) }
        if body != nil, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.append(("Content-Type", "application/json"))
        }
        return PushHTTPRequest(
            method: request.method, address: address, headers: headers, body: body, signature: signature)
    }

    private func body(_ body: PushRequest.Body) throws(PushFailure) -> [UInt8] {
        switch body {
        case .json(let template): return Array(PushTemplate.expand(template, values, PushTemplate.json).utf8)
        case .template(let template):
            let bytes = Array(secretText.utf8)
            guard let claims = (try? CompactJWS(bytes))?.claims,
                let rendered = try? FormatRegistry.template.init(parameter: template).render(
                    [.whole: RenderedSecret(token: bytes, claims: claims)], into: [])
            else { throw PushFailure(.unconfigured, "the target's body cannot be made of the secret") }
            return rendered
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
