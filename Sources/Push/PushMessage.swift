package import AppleClientSecret
package import Failures
import SignIn

/// A question to the push role of the network program: one JSON object on one line.
package struct PushQuestion: Sendable {
    package enum Verb: String, Sendable {
        /// Write the secret, and read it back.
        case publish
        /// Read whether it is there.
        case read
        /// Deploy what runs in production again, unless it has what was put there last, or is about to. No secret goes
        /// with it.
        case redeploy
    }

    package let verb: Verb
    package let secret: Token
    /// The secrets of other targets with members of the same document, which are written with it: by the targets' names.
    package let others: [String: Token]

    /// In bytes: twice what the largest document takes, which is 65,536 bytes at AWS.
    package static let longest = 131_072

    package init(_ verb: Verb, secret: Token, others: [String: Token] = [:]) {
        self.verb = verb
        self.secret = secret
        self.others = others
    }

    /// The question without a secret.
    package static let redeploy = PushQuestion(.redeploy, secret: Token([], sha256: { _ in [] }))

    /// Reads ``request``; nil for anything else, a secret that is no compact JWS included.
    package init?(request bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        guard bytes.count <= Self.longest, let json = try? JSONValue(bytes),
            let verb = json["do"]?.text.flatMap(Verb.init)
        else { return nil }
        guard verb != .redeploy else {
            self = .redeploy
            return
        }
        func token(_ value: JSONValue?) -> Token? {
            guard let text = value?.text, text.utf8.count <= Token.maximumLength,
                (try? CompactJWS(Array(text.utf8))) != nil
            else { return nil }
            return Token(Array(text.utf8), sha256: sha256)
        }
        guard let secret = token(json["client_secret"]) else { return nil }
        var others: [String: Token] = [:]
        if let value = json["others"] {
            guard case .object(let members) = value else { return nil }
            for (name, value) in members {
                guard let other = token(value) else { return nil }
                others[name] = other
            }
        }
        self.init(verb, secret: secret, others: others)
    }

    /// The question as it goes to the push role.
    package var request: [UInt8] {
        guard verb != .redeploy else { return JSONText.object([("do", .string(verb.rawValue))]).bytes }
        func text(_ token: Token) -> JSONText { token.withBytes { .string(String(decoding: $0, as: UTF8.self)) } }
        var members: [(String, JSONText)] = [("do", .string(verb.rawValue)), ("client_secret", text(secret))]
        if !others.isEmpty {
            members.append(("others", .object(others.sorted { $0.key < $1.key }.map { ($0.key, text($0.value)) })))
        }
        return JSONText.object(members).bytes
    }
}

/// The result of a ``PushQuestion``.
package enum PushResult: Hashable, Sendable {
    /// The API said that it has taken the secret, or that it holds it already. Verified when it was seen there; false where
    /// another one was, which may be an older answer; nil where the API does not show it.
    case published(verified: Bool?)
    /// Whether the API holds the secret; nil where it does not show it.
    case read(holds: Bool?)
    /// Whether what runs in production has what was put there last; false while it is being deployed.
    case redeployed(ready: Bool)
    case failed(PushFailure)

    /// The answer as the push role writes it: one JSON object on one line.
    package var answer: JSONText {
        switch self {
        case .published(let verified): .object([("result", .string("published")), ("verified", Self.bool(verified))])
        case .read(let holds): .object([("result", .string("read")), ("holds", Self.bool(holds))])
        case .redeployed(let ready): .object([("result", .string("redeployed")), ("ready", .bool(ready))])
        case .failed(let failure):
            .object([
                ("result", .string("failed")), ("code", .string(failure.code.failure.rawValue)),
                ("detail", .text(failure.detail)), ("retry_after", failure.retryAfter.map(JSONText.number) ?? .null),
            ])
        }
    }

    /// Reads an ``answer``; nil for anything else.
    package init?(answer bytes: [UInt8]) {
        guard let json = try? JSONValue(bytes) else { return nil }
        func bool(_ name: String) -> Bool? {
            if case .bool(let value)? = json[name] { value } else { nil }
        }
        switch json["result"]?.text {
        case "published": self = .published(verified: bool("verified"))
        case "read": self = .read(holds: bool("holds"))
        case "redeployed":
            guard let ready = bool("ready") else { return nil }
            self = .redeployed(ready: ready)
        case "failed":
            let code = PushFailure.Code.allCases.first { $0.failure.rawValue == json["code"]?.text }
            guard let code else { return nil }
            self = .failed(
                PushFailure(
                    code, json["detail"]?.text, retryAfter: json["retry_after"]?.whole.map { Int(clamping: $0) }))
        default: return nil
        }
    }

    private static func bool(_ value: Bool?) -> JSONText { value.map(JSONText.bool) ?? .null }
}

/// Why a secret could not be pushed, or not be read back.
package struct PushFailure: Error, Hashable, Sendable {
    package let code: Code
    /// What the API or the library for the network said, without anything that could be a piece of a secret; on one line.
    package let detail: String?
    /// For how many seconds the API wants no request, a day at most; nil where it does not say.
    package let retryAfter: Int?

    package enum Code: Hashable, Sendable, CaseIterable {
        case unconfigured
        case tokenUnusable
        case credentialsRefused
        case placeMissing
        case rateLimited
        case quotaExceeded
        case serverFailed
        case unreachable
        case timedOut
        case certificateRefused
        case redirected
        case conflict
        case rejected
        case answerUnexpected
        case deploymentFailed
        case deploymentCancelled
        /// The role's configuration has no such target.
        case targetUnknown
        /// The API takes the token, and refuses what it is to change.
        case changeRefused
        /// What is there is of another kind than what is written.
        case placeUnsuitable
        case immutable
        case secondFactorWanted
        case othersBlank
        case environmentsConflict

        /// The same among all failures.
        package var failure: FailureCode {
            switch self {
            case .unconfigured: .pushUnconfigured
            case .tokenUnusable: .pushTokenUnusable
            case .credentialsRefused: .pushCredentialsRefused
            case .placeMissing: .pushPlaceMissing
            case .rateLimited: .pushRateLimited
            case .quotaExceeded: .pushQuotaExceeded
            case .serverFailed: .pushServerFailed
            case .unreachable: .pushUnreachable
            case .timedOut: .pushTimedOut
            case .certificateRefused: .pushCertificateRefused
            case .redirected: .pushRedirected
            case .conflict: .pushConflict
            case .rejected: .pushRejected
            case .answerUnexpected: .pushAnswerUnexpected
            case .deploymentFailed: .pushDeploymentFailed
            case .deploymentCancelled: .pushDeploymentCancelled
            case .targetUnknown: .pushTargetUnknown
            case .changeRefused: .pushChangeRefused
            case .placeUnsuitable: .pushPlaceUnsuitable
            case .immutable: .pushImmutable
            case .secondFactorWanted: .pushSecondFactorWanted
            case .othersBlank: .pushOthersBlank
            case .environmentsConflict: .pushEnvironmentsConflict
            }
        }
    }

    package init(_ code: Code, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter.map { min(max($0, 0), 86_400) }
    }

    /// The same for what the network could not do.
    ///
    /// - Parameter hidden: what must not be shown of what the library for the network says.
    init(_ failure: TransportFailure, _ hidden: HiddenTexts) {
        let code: Code =
            switch failure.kind {
            case .nameNotResolved, .notConnected, .proxyFailed, .connectionLost, .tlsFailed, .failed: .unreachable
            case .timedOut: .timedOut
            case .certificateRefused, .caFileUnusable: .certificateRefused
            case .answerTooLong: .answerUnexpected
            }
        let detail = failure.kind == .answerTooLong ? "it is longer than 1 MiB" : hidden.words(failure.detail)
        self.init(code, detail.isEmpty ? nil : detail)
    }
}
