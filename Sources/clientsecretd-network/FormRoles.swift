import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `token`: posts a form to the token endpoint.
struct TokenRole: ParsableCommand {
    static let configuration = formRole("token", endpoint: "token")

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .token)))
    }
}

/// `revoke`: posts a form to the revocation endpoint.
struct RevokeRole: ParsableCommand {
    static let configuration = formRole("revoke", endpoint: "revocation")

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.post(RoleInput.form(), to: .revoke)))
    }
}

private func formRole(_ name: String, endpoint: String) -> CommandConfiguration {
    CommandConfiguration(
        commandName: name,
        abstract: "Post a form to the \(endpoint) endpoint.",
        discussion: """
            Reads the form's fields, {"name": "value"}. \(RoleOutput.ofRequest)

            Examples:
              clientsecretd-network \(name) <fields.json
              clientsecretd-network \(name) --endpoint https://127.0.0.1:8443 <fields.json
            """)
}
