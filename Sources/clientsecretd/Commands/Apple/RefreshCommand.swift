import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `refresh`: a refresh token for an access token.
struct RefreshCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Exchange a refresh token for an access token, to see that the user has not revoked it.",
        discussion: """
            Apple wants an app to do this at most once a day for each user, and may refuse more. There is no new \
            refresh token. The old one stays valid.

            Examples:
              clientsecretd refresh web tokens.json
              clientsecretd refresh web tokens.json --json
            """)

    @OptionGroup var chosen: ClientOptions

    @OptionGroup var held: TokenArgument

    @OptionGroup var showing: TokenOutputOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let program = try NetworkProgramLauncher(server)
        let secret = try chosen.secret()
        let token = try held.token("refresh_token", asking: "Refresh token")
        let kept = try showing.file()
        let tokens = try TokenRequest(secret: secret, program: program).tokens(
            [("grant_type", "refresh_token"), ("refresh_token", token)], for: .refresh)
        var report = TokenReport(tokens: tokens, user: nil, showing: showing)
        if let kept { report.keep(in: kept, refreshedWith: token) }
        report.check(withCode: nil, client: secret.clientID, nonce: nil, isRequired: false, with: program)
        try report.print(as: answer)
    }
}
