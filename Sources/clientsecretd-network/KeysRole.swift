import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `keys`: fetches the key set, with which identity tokens are checked.
struct KeysRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Fetch Apple's key set.",
        discussion: """
            Reads nothing. \(RoleOutput.ofRequest)

            Examples:
              clientsecretd-network keys
              clientsecretd-network keys --endpoint https://127.0.0.1:8443
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        try RoleOutput.answer(RequestResult(server.client.get(.keys)))
    }
}
