import AppleClientSecret
import ArgumentParser
import SignIn

/// `revoke`: ends what a token allows.
struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a token, as an application has to when a user deletes the account.",
        discussion: """
            Revoking a refresh token or an access token ends the user's connection with the application. Apple says that \
            it is done for any token, also for one that never was: that a refresh is refused afterwards is the proof.
            """)

    /// What kind of token it is, which Apple is given.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case refreshToken = "refresh_token"
        case accessToken = "access_token"
    }

    @OptionGroup var chosen: ClientOptions

    @Argument(
        help: ArgumentHelp(
            "A file with the token, alone or as 'exchange --save' writes it; by default it is asked for, or read from "
                + "standard input.", valueName: "file"),
        completion: .file())
    var file = NamedFile.standardInput

    @Option(help: ArgumentHelp("What kind of token it is.", valueName: "type"))
    var tokenType = Kind.refreshToken

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let program = try NetworkProgramLauncher(server)
        let secret = try chosen.secret()
        let text = try HeldToken.read(file, asking: "Token to revoke")
        let token = try HeldToken.token(in: text, of: file, member: tokenType.rawValue)
        try TokenRequest(secret, program).revoke([("token", token), ("token_type_hint", tokenType.rawValue)])
        guard !answer.json else {
            return try CommandOutput.answer(JSONText.object([("accepted", .bool(true))]).rendered)
        }
        try CommandOutput.answer(
            "Apple has taken the request, as it does for any token: that a refresh is refused from now on proves it")
    }
}
