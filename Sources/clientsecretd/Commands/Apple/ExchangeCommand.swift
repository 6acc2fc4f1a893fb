import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `exchange`: the code of a sign-in for tokens.
struct ExchangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Exchange the code of a sign-in for tokens, and check the identity token.",
        discussion: """
            Takes the answer at the return address: the whole address, the posted form, or only the code. A code can be \
            used once, within five minutes. With --request, state and nonce are compared with those that were sent. \
            Tokens are shown as digests.

            Examples:
              clientsecretd exchange web --request sign-in.url --save tokens.json
              clientsecretd exchange web came-back.form --request sign-in.url
            """)

    @OptionGroup var chosen: ClientOptions

    @Argument(
        help: .value("file", "A file with the answer (default: the terminal or standard input)."), completion: .file())
    var file = NamedFile.standardInput

    @Option(help: .value("file", "A file with the address from 'authorize-url'."), completion: .file())
    var request: String?

    @Option(help: .value("url", "The return address, without --request."))
    var redirectURI: String?

    @OptionGroup var showing: TokenOutputOptions
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
        let program = try NetworkProgramLauncher(server)
        let secret = try chosen.secret()
        if let request, request.clientID != secret.clientID {
            throw CommandFailure(
                .failed, "the request is for \(request.clientID), but the secret is for \(secret.clientID)")
        }
        let text = try TokenArgument.read(file, asking: "What came back: the address, the form or the code")
        guard let response = AuthorizationResponse(text) else {
            throw CommandFailure(
                .failed, "\(NamedFile.shown(file)): this is not a code, and not an address or form with a code")
        }
        let code = try checked(response, request)
        let kept = try showing.file()
        var fields: [FormEncoding.Field] = [("grant_type", "authorization_code"), ("code", code)]
        if let address = request?.redirectURI ?? redirectURI { fields.append(("redirect_uri", address)) }
        let tokens = try TokenRequest(secret: secret, program: program).tokens(fields, for: .code)
        var report = TokenReport(tokens: tokens, user: response.user, showing: showing)
        if let kept { report.keep(in: kept) }
        report.check(
            withCode: response.identityToken, client: secret.clientID, nonce: request?.nonce, isRequired: true,
            with: program)
        try report.print(as: answer)
    }

    private static func read(_ file: String) throws(CommandFailure) -> AuthorizationRequest {
        let bytes = try NamedFile.read(file, limit: longestRequest)
        let text = String(decoding: bytes, as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isNewline).first, let request = AuthorizationRequest(url: line)
        else {
            throw CommandFailure(
                .failed,
                "\(NamedFile.shown(file)): this is not an address from 'authorize-url'")
        }
        return request
    }

    private func checked(
        _ response: AuthorizationResponse, _ request: AuthorizationRequest?
    ) throws(CommandFailure) -> String {
        if let request, let state = response.state, !state.hasSameBytes(as: request.state) {
            throw CommandFailure(
                .failed,
                "the state that came back is not the one that was sent: it belongs to another sign-in, or "
                    + "it is forged; nothing was exchanged")
        }
        switch response.code {
        case .failure(let error): throw CommandFailure(error, of: .code)
        case .success(let code):
            if request == nil {
                CommandOutput.complain(
                    "without --request, state and nonce are not checked, so a forged answer is not noticed")
            } else if response.isCodeAlone {
                CommandOutput.complain(
                    "a code without its state does not show which sign-in it belongs to, so this was not checked")
            } else if response.state == nil {
                throw CommandFailure(
                    .failed,
                    "no state came back, though one was sent: the answer is forged or incomplete; "
                        + "nothing was exchanged")
            }
            return code
        }
    }
}
