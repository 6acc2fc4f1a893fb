import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `token`: posts a form to the token endpoint.
struct TokenRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Post a form to the token endpoint.",
        discussion: """
            Reads the form's fields, {"name": "value"}. \(RoleOutput.ofRequest)

            Examples:
              clientsecretd-network token <fields.json
              clientsecretd-network token --endpoint https://127.0.0.1:8443 <fields.json
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .token)))
    }
}
