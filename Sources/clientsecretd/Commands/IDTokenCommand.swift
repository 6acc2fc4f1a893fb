import AppleClientSecret
import ArgumentParser
import Linux
import Model
import SignIn

/// `id-token`: checks an identity token.
struct IDTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id-token",
        abstract: "Check an identity token with Apple's key set, as an application has to.",
        discussion: """
            RS256 alone, with a key of Apple's; issued by https://appleid.apple.com for this client id alone; not expired, \
            not from the future; with the nonce that was sent, if one is given. Exits 1 when it is not accepted.
            """)

    @Argument(help: "A client of the configuration.", completion: .configuredClients, transform: Flags.clientName)
    var client: ClientName

    @Argument(
        help: ArgumentHelp(
            "A file with the token, alone or as 'exchange --save' writes it; by default it is asked for, or read from "
                + "standard input.", valueName: "file"),
        completion: .file())
    var file = NamedFile.standardInput

    @Option(help: ArgumentHelp("The nonce that was sent.", valueName: "text"))
    var nonce: String?

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        try Hardening.protectSecrets()
        let program = try NetworkProgramLauncher(server)
        let clientID = try PublishedSettings(settings).client(client).clientID
        let text = try HeldToken.read(file, asking: "Identity token")
        let token = try HeldToken.token(in: text, of: file, member: "id_token")
        let check = try IdentityCheck(token, client: clientID, nonce: nonce, with: program)
        if answer.json {
            try CommandOutput.answer(check.json.rendered)
        } else {
            let terminal = Terminal.current(Environment.current)
            try CommandOutput.answer(check.lines.map(terminal.shown).joined(separator: "\n"))
        }
        if !check.isGood { throw CommandFailure(.failed, "") }
    }
}
