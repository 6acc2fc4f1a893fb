import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `revoke`: posts a form to the revocation endpoint.
struct RevokeRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Post a form to the revocation endpoint.",
        discussion: """
            Reads the form's fields, {"name": "value"}. \(RoleOutput.ofRequest)

            Examples:
              clientsecretd-network revoke <fields.json
              clientsecretd-network revoke --endpoint https://127.0.0.1:8443 <fields.json
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .revoke)))
    }
}
