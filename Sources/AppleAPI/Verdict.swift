package import AppleClientSecret
package import Failures

/// Whether Apple accepts a client secret.
package struct Verdict: Hashable, Sendable {
    package enum Outcome: String, JSONString, Hashable, Sendable {
        case accepted
        /// Apple's answer. A single refusal may be a stray: ask a second time.
        case refused
        /// No answer, or another one.
        case unknown
    }

    package let outcome: Outcome
    /// The `error` that Apple answered with; nil if there is none.
    package let code: String?
    /// Why nothing is known: a ``TransportFailure/Kind``, or `unexpected_answer`, `redirected`, `malformed_request`; nil if
    /// something is known.
    package let reason: String?
    /// The event, in words that a server or the library for the network may have chosen; nil if it was accepted. People are
    /// shown ``why(by:_:)``.
    package let detail: String?
    /// The answer's HTTP status; nil without an answer.
    package let status: Int?
    /// The server's clock; nil if it does not tell.
    package let serverTime: WallTime?

    private init(
        _ outcome: Outcome, code: String? = nil, reason: String? = nil, detail: String? = nil, status: Int? = nil,
        serverTime: WallTime? = nil
    ) {
        self.outcome = outcome
        self.code = code
        self.reason = reason
        self.detail = detail
        self.status = status
        self.serverTime = serverTime
    }

    /// Why there was no answer; nil if there was one, or nothing was asked.
    package var transportFailure: TransportFailure? {
        guard outcome == .unknown, let reason, let kind = TransportFailure.Kind(rawValue: reason) else { return nil }
        return TransportFailure(kind, detail ?? "")
    }

    /// Why nothing is known, as a sentence without its end; nil if something is known. The sentence is this program's. Only the
    /// words in it that a server, or another user's process, has chosen are quoted.
    ///
    /// - Parameters:
    ///   - rules: those of the request.
    ///   - quoted: quotes such words.
    package func why(by rules: VerificationRules, _ quoted: (String) -> String) -> String? {
        guard outcome == .unknown else { return nil }
        if let transportFailure { return transportFailure.words(quoted) }
        for known in [Self.malformedRequest, .cannotBeTried] where reason == known.reason { return known.detail }
        if reason == Self.redirected { return Self.redirectWords }
        if reason == Self.unexpectedAnswer, let status {
            return Self.words(for: code, with: status, instead: rules, quoted)
        }
        return (detail ?? reason).map(quoted) ?? "the reason is not known"
    }

    private static let redirected = "redirected"
    private static let unexpectedAnswer = "unexpected_answer"
    private static let redirectWords = "the server redirects, and redirects are not followed"

    /// An answer that says nothing about the secret, in words.
    ///
    /// - Parameters:
    ///   - code: the error that it names; nil if it names none.
    ///   - rules: those of the expected answer.
    private static func words(
        for code: String?, with status: Int, instead rules: VerificationRules, _ quoted: (String) -> String
    ) -> String {
        guard let code else {
            let expected = rules.request == .bearer ? "a verdict" : "an OAuth error"
            return "the server answered \(status) with something that is not \(expected)"
        }
        // With any other status, an error of this name says nothing about the secret.
        let meaning = status == 400 ? OAuthError(code).explanation(of: .code) : nil
        return "the server answered \(status) with \(quoted(code))" + (meaning.map { ": \($0)" } ?? "")
    }

    /// Nothing was asked, because the request was no request.
    package static let malformedRequest = Verdict(
        .unknown, reason: "malformed_request",
        detail: "the request is not a JSON object with client_id and client_secret")

    /// Nothing was asked, because nothing at Apple tries such a token.
    package static let cannotBeTried = Verdict(
        .unknown, reason: "cannot_be_tried",
        detail: "Apple offers no check of a Maps token for web pages")

    /// The result of a request.
    ///
    /// - Parameters:
    ///   - rules: the rules of the request and of its answers.
    ///   - redacted: removes secrets from a text of the answer.
    package init(
        _ result: Result<HTTPAnswer, TransportFailure>,
        to rules: VerificationRules = TokenKind.signIn.rules.verification,
        redacted: (String) -> String = { $0 }
    ) {
        switch result {
        case .failure(let failure):
            self.init(.unknown, reason: failure.kind.rawValue, detail: failure.detail)
        case .success(let answer):
            let error = OAuthError(answer)?.redacted(redacted)
            switch rules.answers.first(where: { $0.fits(answer) })?.isAcceptance {
            case true?:
                self.init(.accepted, code: error?.code, status: answer.status, serverTime: answer.date)
            case false?:
                self.init(
                    .refused, code: error?.code, detail: error?.description, status: answer.status,
                    serverTime: answer.date)
            case nil:
                let isRedirect = (300..<400).contains(answer.status)
                self.init(
                    .unknown, code: error?.code, reason: isRedirect ? Self.redirected : Self.unexpectedAnswer,
                    detail: isRedirect
                        ? Self.redirectWords
                        : Self.words(for: error?.code, with: answer.status, instead: rules) { $0 },
                    status: answer.status, serverTime: answer.date)
            }
        }
    }
}

extension HTTPAnswer {
    fileprivate var isPage: Bool { body.first { !$0.isASCIISpace } == UInt8(ascii: "<") }
}

extension VerificationRules.Answer {
    fileprivate func fits(_ answer: HTTPAnswer) -> Bool {
        guard statuses.contains(answer.status) else { return false }
        return switch body {
        case .noPage: !answer.isPage
        case .noError: !answer.isPage && (try? JSONValue(answer.body, duplicates: .lastCounts))?["errors"] == nil
        case .accessToken: TokenResponse(answer) != nil
        case .member(let name): (try? JSONValue(answer.body))?[name]?.text != nil
        case .error(let code): OAuthError(answer)?.code == code
        }
    }
}

/// The verdict as the network program writes it on its standard output, on one line.
extension Verdict: JSONDocument {
    package init(_ verdict: Verdict?, _ members: inout JSONMembers) throws(JSONError) {
        outcome = try members("verdict", verdict?.outcome)
        code = try members.orNull("code", verdict?.code)
        reason = try members.orNull("reason", verdict?.reason)
        detail = try members.orNull("detail", verdict?.detail)
        status = try members.orNull("status", verdict?.status)
        serverTime = try members.orNull("server_time", (verdict?.serverTime).map(UnixTime.init))?.moment
    }
}
