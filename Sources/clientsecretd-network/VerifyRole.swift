import AppleClientSecret
import ArgumentParser
import SignIn

/// `verify`: does Apple accept a client secret?
struct VerifyRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Try a client secret, without a user.",
        discussion: """
            Reads {"client_id", "client_secret"} and writes {"verdict", "code", "reason", "detail", "status", \
            "server_time"}, the verdict being "accepted", "refused" or "unknown".
            """)

    @OptionGroup var server: EndpointOptions

    func run() throws {
        let bytes = try RoleInput.read(limit: SecretTrial.longestRequest)
        guard let trial = SecretTrial(request: bytes, token: { Token($0, sha256: { _ in [] }) }) else {
            return try RoleOutput.answer(Verdict.malformedRequest.answer)
        }
        try RoleOutput.answer(Verdict(server.client.post(trial.form, to: .token)).answer)
    }
}
