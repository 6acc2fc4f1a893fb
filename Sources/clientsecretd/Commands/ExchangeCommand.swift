import AppleClientSecret
import ArgumentParser
import Failures
import SignIn

/// `exchange`: the code of a sign-in for tokens.
struct ExchangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Exchange the code of a sign-in for tokens, and check the identity token.",
        discussion: """
            Takes what came back to the return address: the whole address, the form that was posted there, or the code \
            alone. A code lives for five minutes and is exchanged once. With --request, the state and the nonce that come \
            back are compared with those that were sent. Tokens are shown as their fingerprints.
            """)

    @OptionGroup var chosen: ClientOptions

    @Argument(
        help: ArgumentHelp(
            "A file with what came back; by default it is asked for, or read from standard input.", valueName: "file"),
        completion: .file())
    var file = NamedFile.standardInput

    @Option(
        help: ArgumentHelp("A file with the address that 'authorize-url' has printed.", valueName: "file"),
        completion: .file())
    var request: String?

    @Option(
        help: ArgumentHelp("The return address of the request, if there is no --request.", valueName: "url"))
    var redirectURI: String?

    @OptionGroup var showing: TokenShowing
    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    mutating func validate() throws {
        if request != nil, redirectURI != nil {
            throw ValidationError("--request has the return address in it; leave --redirect-uri out")
        }
    }

    /// In bytes: an address.
    private static let longestRequest = 16_384

    func run() throws {
        let request = try self.request.map(Self.read)
        let program = try NetworkProgram(server)
        let secret = try chosen.secret()
        if let request, request.clientID != secret.clientID {
            throw CommandFailure(
                .failed, "the request was made for \(request.clientID), and the secret is one of \(secret.clientID)")
        }
        let text = try HeldToken.read(file, asking: "What came back: the address, the form or the code")
        guard let response = AuthorizationResponse(text) else {
            throw CommandFailure(
                .failed, "\(HeldToken.name(of: file)): this is neither an address or a form with a code, nor a code")
        }
        let code = try checked(response, request)
        let kept = try showing.open()
        var fields: [FormEncoding.Field] = [("grant_type", "authorization_code"), ("code", code)]
        if let address = request?.redirectURI ?? redirectURI { fields.append(("redirect_uri", address)) }
        let tokens = try TokenRequest(secret, program).tokens(fields, for: .code)
        if let kept { try showing.keep(tokens, in: kept) }
        var checks: [IdentityCheck] = []
        if let token = response.identityToken {
            // It went through the browser, where anybody may have put another one in its place.
            checks.append(
                try IdentityCheck(
                    token, "identity token with the code", client: secret.clientID, nonce: request?.nonce, with: program
                ))
        }
        if let token = tokens.identityToken {
            checks.append(
                try IdentityCheck(token, client: secret.clientID, nonce: request?.nonce, with: program))
        }
        let report = TokenReport(tokens: tokens, checks: checks, user: response.user, showing: showing)
        try report.print(asJSON: answer.json)
    }

    private static func read(_ file: String) throws(CommandFailure) -> AuthorizationRequest {
        let bytes = try NamedFile.read(file, limit: longestRequest)
        let text = String(decoding: bytes, as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isNewline).first, let request = AuthorizationRequest(url: line)
        else {
            throw CommandFailure(
                .failed,
                "\(HeldToken.name(of: file)): this is no address that 'clientsecretd authorize-url' has printed")
        }
        return request
    }

    private func checked(
        _ response: AuthorizationResponse, _ request: AuthorizationRequest?
    ) throws(CommandFailure) -> String {
        if let request, let state = response.state, state != request.state {
            throw CommandFailure(
                .failed,
                "the state that came back is not the one that was sent: it belongs to another sign-in, or "
                    + "somebody has forged it; nothing was exchanged")
        }
        switch response.code {
        case .failure(let error): throw CommandFailure(error, of: .code)
        case .success(let code):
            if request != nil, response.state == nil {
                Streams.complain("no state came back with the code, so whose sign-in it is was not checked")
            }
            return code
        }
    }
}
