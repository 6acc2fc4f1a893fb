import AppleAPI
import AppleClientSecret
import ArgumentParser
import Model

/// `authorize-url`: the address at which a browser signs in.
struct AuthorizeURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authorize-url",
        abstract: "Print the address that begins a sign-in in a browser.",
        discussion: """
            The address has a new state and nonce. Save it to a file: 'exchange' compares them with the answer. With \
            scopes or an identity token, Apple posts the answer to the return address as a form. Otherwise the \
            answer is in the address where the browser ends.

            Examples:
              clientsecretd authorize-url web --redirect-uri https://example.com/callback
              clientsecretd authorize-url web --scope name email \\
                  --redirect-uri https://example.com/callback >sign-in.url
            """)

    @Argument(help: "A client of the configuration.", completion: .configuredClients, transform: Flags.clientName)
    var client: ClientName

    @Option(help: .value("url", "The return address. It is registered for the client id."))
    var redirectURI: String

    @Option(
        parsing: .upToNextOption, help: .value("scope", "Ask for the user's name, email or both."),
        completion: .list(AuthorizationRequest.Scope.allCases.map(\.rawValue)), transform: Flags.scope)
    var scope: [AuthorizationRequest.Scope] = []

    @Option(
        help: .value("type", "The answer: 'code' or 'code id_token' (default: code)."), transform: Flags.responseType)
    var responseType = AuthorizationRequest.ResponseType.code

    @Option(help: .value("url", "A server other than Apple's; https only."), transform: Flags.endpoint)
    var endpoint: Endpoint?

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var answer: JSONFlag

    mutating func validate() throws {
        if let problem = AuthorizationRequest.problem(withRedirectURI: redirectURI) {
            throw ValidationError("--redirect-uri: \(problem)")
        }
    }

    func run() throws {
        let settings = try AcceptedConfiguration(settings)
        let request = AuthorizationRequest(
            clientID: try settings.signInClient(client).clientID, redirectURI: redirectURI, scopes: scope,
            responseType: responseType)
        let url = request.url(at: endpoint ?? .apple)
        try answer.show(
            JSONText.object([
                ("url", .string(url)), ("client_id", .string(request.clientID.description)),
                ("redirect_uri", .string(redirectURI)), ("response_type", .string(responseType.rawValue)),
                ("response_mode", .string(request.responseMode)),
                ("scope", .array(scope.map { .string($0.rawValue) })), ("state", .string(request.state)),
                ("nonce", .string(request.nonce)),
            ]).rendered, or: [url])
    }
}

extension Flags {
    static func scope(_ text: String) throws -> AuthorizationRequest.Scope {
        try valid(AuthorizationRequest.Scope(rawValue: text), "Apple knows only the scopes name and email")
    }

    static func responseType(_ text: String) throws -> AuthorizationRequest.ResponseType {
        try valid(AuthorizationRequest.ResponseType(rawValue: text), "write code or 'code id_token'")
    }
}
