import AppleAPI
import AppleClientSecret
import Failures

/// A request to the token endpoint with a client secret.
struct TokenRequest {
    let secret: PublishedSecret
    let program: NetworkProgramLauncher

    /// The tokens that these fields are answered with.
    func tokens(
        _ fields: [FormEncoding.Field], for request: OAuthError.Request
    ) throws(CommandFailure) -> TokenResponse {
        let answer = try post(fields, to: .token, request)
        if let tokens = TokenResponse(answer) { return tokens }
        throw Self.failure(answer, request)
    }

    /// Revokes the token in these fields.
    func revoke(_ fields: [FormEncoding.Field]) throws(CommandFailure) {
        let answer = try post(fields, to: .revoke, .revocation)
        // Apple's answer is empty: a page is from something in between.
        let isEmpty = !answer.isBodyLeftOut && answer.body.allSatisfy(\.isASCIISpace)
        guard answer.status != 200 || !isEmpty else { return }
        throw Self.failure(answer, .revocation)
    }

    private func post(
        _ fields: [FormEncoding.Field], to path: Endpoint.Path, _ request: OAuthError.Request
    ) throws(CommandFailure) -> HTTPAnswer {
        let client = secret.token.withBytes { bytes in
            [("client_id", secret.clientID.description), ("client_secret", String(decoding: bytes, as: UTF8.self))]
        }
        switch try program.post(client + fields, to: path) {
        case .success(let answer): return answer
        case .failure(let failure):
            throw CommandFailure(
                .failed,
                "Apple did not answer: \(failure.words(Printable.foreign)); "
                    + (failure.mayBeSent ? request.wordsIfSent : request.wordsIfNotSent))
        }
    }

    private static func failure(_ answer: HTTPAnswer, _ request: OAuthError.Request) -> CommandFailure {
        // With another status it is no error of the endpoint's, but the words of something in between.
        guard (400..<500).contains(answer.status), let error = OAuthError(answer) else {
            return CommandFailure(
                .failed,
                "the server answered \(answer.status) with \(request.unexpected); \(request.wordsIfSent)")
        }
        return CommandFailure(error, of: request)
    }
}

extension OAuthError.Request {
    /// The part of an answer that does not come from Apple.
    fileprivate var unexpected: String {
        switch self {
        case .code, .refresh: "neither tokens nor an error"
        case .revocation: "something that Apple does not send"
        }
    }

    /// The state of the code or token, if the request did not reach Apple.
    fileprivate var wordsIfNotSent: String {
        switch self {
        case .code: "the code was not sent: you can still exchange it until it is five minutes old"
        case .refresh: "the refresh token was not sent"
        case .revocation: "nothing was sent, and nothing is revoked"
        }
    }

    /// Its state, if the request may have reached Apple.
    fileprivate var wordsIfSent: String {
        switch self {
        case .code:
            "the code was sent and may be used up: if it is refused now, start again with 'authorize-url'"
        case .refresh: "the refresh token was sent, and stays valid"
        case .revocation: "the token was sent and may be revoked: it is safe to revoke it again"
        }
    }
}

extension CommandFailure {
    /// Apple's error, explained.
    init(_ error: OAuthError, of request: OAuthError.Request) {
        let more = error.description.map { " (\(Printable.foreign($0)))" } ?? ""
        let explanation = error.explanation(of: request) ?? "Apple documents no such error"
        self.init(.failed, "Apple answered \(Printable.foreign(error.code))\(more): \(explanation)")
    }
}
