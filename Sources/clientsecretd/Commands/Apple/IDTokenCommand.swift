import AppleAPI
import AppleClientSecret
import ArgumentParser
import Linux
import Model

/// `id-token`: checks an identity token.
struct IDTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id-token",
        abstract: "Check an identity token against Apple's key set, as an app must.",
        discussion: """
            The token must have RS256 and a key of Apple. Its issuer must be https://appleid.apple.com, and its \
            audience only this client id. It must be valid now (clocks may differ by 60 seconds), and have the nonce \
            that you give. Exits 1 if it is refused.

            Examples:
              clientsecretd id-token web tokens.json
              clientsecretd id-token web token.txt --nonce n-0S6_WzA2Mj
            """)

    @Argument(help: "A client of the configuration.", completion: .configuredClients, transform: Flags.clientName)
    var client: ClientName

    @OptionGroup var held: TokenArgument

    @Option(help: .value("text", "The nonce that the app sent."))
    var nonce: String?

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        try Hardening.protectSecrets()
        let program = try NetworkProgramLauncher(server)
        let clientID = try AcceptedConfiguration(settings).signInClient(client).clientID
        let token = try held.token("id_token", asking: "Identity token")
        let check = try IdentityCheck(token, client: clientID, nonce: nonce, with: program)
        try answer.show(check.json.rendered, or: check.lines)
        if !check.isGood { throw CommandFailure(.failed, "") }
    }
}
