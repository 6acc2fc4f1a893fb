import AppleAPI
import AppleClientSecret
import ArgumentParser

/// What the roles of this file write, for their help.
private let written = #"Writes {"status", "date", "body"} or, without an answer, {"failure", "detail", "may_be_sent"}."#

/// `token`: posts a form to the token endpoint.
struct TokenRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Post a form to the token endpoint.",
        discussion: """
            Reads the form's fields, {"name": "value"}. \(written)

            Examples:
              clientsecretd-network token <fields.json
              clientsecretd-network token --endpoint https://127.0.0.1:8443 <fields.json
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .token)))
    }
}

/// `revoke`: posts a form to the revocation endpoint.
struct RevokeRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Post a form to the revocation endpoint.",
        discussion: """
            Reads the form's fields, {"name": "value"}. \(written)

            Examples:
              clientsecretd-network revoke <fields.json
              clientsecretd-network revoke --endpoint https://127.0.0.1:8443 <fields.json
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .revoke)))
    }
}

/// `keys`: fetches the key set, with which identity tokens are checked.
struct KeysRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Fetch Apple's key set.",
        discussion: """
            Reads nothing. \(written)

            Examples:
              clientsecretd-network keys
              clientsecretd-network keys --endpoint https://127.0.0.1:8443
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.get(.keys)))
    }
}
