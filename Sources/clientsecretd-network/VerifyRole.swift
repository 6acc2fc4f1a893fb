import AppleAPI
import AppleClientSecret
import ArgumentParser

/// `verify`: does Apple accept a token?
struct VerifyRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Ask Apple whether it accepts a client secret.",
        discussion: """
            Reads {"client_id", "client_secret"}; in the place of a client id, music: or maps: names these kinds. Writes {"verdict", "code", "reason", "detail", "status", \
            "server_time"}. The verdict is "accepted", "refused" or "unknown".

            Examples:
              clientsecretd-network verify <request.json
              clientsecretd-network verify --endpoint https://127.0.0.1:8443 <request.json
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        let bytes = try RoleInput.read(limit: VerificationRequest.longestRequest)
        guard let request = VerificationRequest(bytes) else {
            return try RoleOutput.answer(Verdict.malformedRequest)
        }
        try RoleOutput.answer(server.client.verdict(on: request))
    }
}
