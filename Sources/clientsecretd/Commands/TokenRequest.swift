import AppleClientSecret
import Failures
import SignIn

/// A request to the token endpoint with a client secret.
struct TokenRequest {
    private let secret: PublishedSecret
    private let program: NetworkProgram

    init(_ secret: PublishedSecret, _ program: NetworkProgram) {
        self.secret = secret
        self.program = program
    }

    /// The tokens that these fields are answered with.
    func tokens(
        _ fields: [FormEncoding.Field], for request: OAuthError.Request
    ) throws(CommandFailure) -> TokenResponse {
        let answer = try post(fields, to: .token)
        if let tokens = TokenResponse(answer) { return tokens }
        throw Self.failure(answer, request)
    }

    /// Revokes what these fields name.
    func revoke(_ fields: [FormEncoding.Field]) throws(CommandFailure) {
        let answer = try post(fields, to: .revoke)
        guard answer.status != 200 else { return }
        throw Self.failure(answer, .revocation)
    }

    private func post(_ fields: [FormEncoding.Field], to path: Endpoint.Path) throws(CommandFailure) -> HTTPAnswer {
        let client = secret.token.withBytes { bytes in
            [("client_id", secret.clientID.description), ("client_secret", String(decoding: bytes, as: UTF8.self))]
        }
        return try program.post(client + fields, to: path)
    }

    private static func failure(_ answer: HTTPAnswer, _ request: OAuthError.Request) -> CommandFailure {
        guard let error = OAuthError(answer) else {
            return CommandFailure(.failed, "the server answered \(answer.status), which is neither tokens nor an error")
        }
        return CommandFailure(error, of: request)
    }
}

extension CommandFailure {
    /// Apple's error, explained.
    init(_ error: OAuthError, of request: OAuthError.Request) {
        let more = error.description.map { " (\(Printable.clause($0)))" } ?? ""
        let explanation = error.explanation(of: request) ?? "Apple documents no such error"
        self.init(.failed, "Apple answered \(Printable.name(error.code))\(more): \(explanation)")
    }
}

/// What came of a request for tokens.
struct TokenReport {
    let tokens: TokenResponse
    let checks: [IdentityCheck]
    let user: JSONValue?
    let showing: TokenShowing

    /// Prints it; throws when an identity token is not good.
    func print(asJSON: Bool) throws {
        if asJSON {
            try Streams.answer(json.rendered)
        } else {
            let terminal = Terminal.current(Environment.current)
            try Streams.answer(lines.map(terminal.shown).joined(separator: "\n"))
        }
        if !checks.allSatisfy(\.isGood) { throw CommandFailure(.failed, "") }
    }

    private var lines: [String] {
        var lines = tokens.tokens.map { name, value in
            let life = name == "access_token" ? tokens.expiresIn.map { ", for \($0) seconds" } ?? "" : ""
            return "\(name): \(showing.shown(value))\(life)"
        }
        if let user {
            let name = ["firstName", "lastName"].compactMap { user["name"]?[$0]?.text }.joined(separator: " ")
            lines.append("user: \(name), \(user["email"]?.text ?? "no address") (told once; not signed)")
        }
        // Both identity tokens state the same; the claims are shown of the one that came from Apple itself.
        return lines + checks.dropLast().flatMap(\.verdict) + (checks.last?.lines ?? [])
    }

    private var json: JSONText {
        .object([
            ("tokens", .object(tokens.tokens.map { ($0.name, .string(showing.shown($0.value))) })),
            ("expires_in", tokens.expiresIn.map { .number(Int($0)) } ?? .null),
            ("identity_tokens", .array(checks.map(\.json))), ("user", user?.jsonText ?? .null),
        ])
    }
}
