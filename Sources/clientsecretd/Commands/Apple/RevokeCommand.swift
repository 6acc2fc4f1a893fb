import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `revoke`: ends the permissions of a token.
struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a token, as an app must when a user deletes the account.",
        discussion: """
            Revoking a refresh token or an access token ends the user's connection with the app. Apple accepts the \
            request for any token. To be sure, run 'refresh': it must now fail.

            Examples:
              clientsecretd revoke web tokens.json
              clientsecretd revoke web tokens.json --token-type access_token
            """)

    /// The kind of the token, which Apple is given.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
    }

    @OptionGroup var chosen: ClientOptions

    @OptionGroup var held: TokenArgument

    @Option(help: .value("type", "The kind of token."))
    var tokenType = Kind.refreshToken

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let program = try NetworkProgramLauncher(server)
        let secret = try chosen.secret()
        let token = try held.token(tokenType.rawValue, asking: "Token to revoke")
        try TokenRequest(secret: secret, program: program).revoke([
            ("token", token), ("token_type_hint", tokenType.rawValue),
        ])
        try answer.show(
            JSONText.object([("accepted", .bool(true))]).rendered,
            or: ["Apple accepted the request, as it does for any token. To be sure, run 'refresh': it must now fail."])
    }
}
