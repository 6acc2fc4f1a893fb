package import AppleClientSecret
package import Failures

/// A question to the push role of the network program: one JSON object on one line.
package struct PushQuestion: Sendable {
    package enum Verb: String, JSONString, Sendable {
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
        guard bytes.count <= Self.longest, let text = try? PushQuestionText(parsing: bytes) else { return nil }
        guard text.verb != .redeploy else {
            self = .redeploy
            return
        }
        guard let secret = text.secret.flatMap({ Self.token($0, sha256) }) else { return nil }
        let others = text.others.compactMapValues { Self.token($0, sha256) }
        guard others.count == text.others.count else { return nil }
        self.init(text.verb, secret: secret, others: others)
    }

    private static func token(_ text: TokenText, _ sha256: ([UInt8]) -> [UInt8]) -> Token? {
        text.parsed == nil ? nil : text.token(sha256: sha256)
    }

    /// The question as it goes to the push role.
    package var request: [UInt8] { PushQuestionText(self).jsonText.bytes }
}

/// A question as it is in JSON; its secrets may be anything.
private struct PushQuestionText: JSONDocument {
    let verb: PushQuestion.Verb
    /// Nil where nothing is written or looked for.
    let secret: TokenText?
    let others: [String: TokenText]

    init(_ question: PushQuestion) {
        verb = question.verb
        secret = verb == .redeploy ? nil : TokenText(question.secret)
        others = question.others.mapValues { TokenText($0) }
    }

    init(_ text: Self?, _ members: inout JSONMembers) throws(JSONFlaw) {
        verb = try members("do", text?.verb)
        secret = try members.orAbsent("client_secret", text?.secret)
        others = try members.unlessEmpty("others", text?.others) ?? [:]
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
    case failed(RoleFailure)
}

/// The answer as the push role writes it, on one line.
extension PushResult: JSONDocument {
    private enum Kind: String, JSONString {
        case published, read, redeployed, failed
    }

    private var kind: Kind {
        switch self {
        case .published: .published
        case .read: .read
        case .redeployed: .redeployed
        case .failed: .failed
        }
    }

    /// Whether it is so, in a result that says no more.
    private var flag: Bool? {
        switch self {
        case .published(let flag), .read(let flag): flag
        case .redeployed(let flag): flag
        case .failed: nil
        }
    }

    private var failure: RoleFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }

    package init(_ result: PushResult?, _ members: inout JSONMembers) throws(JSONFlaw) {
        switch try members("result", result?.kind) {
        case .published: self = .published(verified: try members.orNull("verified", result?.flag))
        case .read: self = .read(holds: try members.orNull("holds", result?.flag))
        case .redeployed: self = .redeployed(ready: try members("ready", result?.flag))
        case .failed: self = .failed(try RoleFailure(result?.failure, &members, codesOf: "push_"))
        }
    }
}

extension RoleFailure {
    /// The same for what the network could not do.
    ///
    /// - Parameter hidden: what must not be shown of what the library for the network says.
    init(_ failure: TransportFailure, _ hidden: EchoedSecrets) {
        let code: FailureCode =
            switch failure.kind {
            case .nameNotResolved, .notConnected, .proxyFailed, .connectionLost, .tlsFailed, .failed: .pushUnreachable
            case .timedOut: .pushTimedOut
            case .certificateRefused, .caFileUnusable: .pushCertificateRefused
            case .answerTooLong, .notHTTP: .pushAnswerUnexpected
            }
        let detail = hidden.words(failure.report)
        self.init(code, detail.isEmpty ? nil : detail)
    }
}
