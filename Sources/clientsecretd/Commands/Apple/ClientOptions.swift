import ArgumentParser
import Linux
import Model

/// The client of the configuration with whose published secret Apple is asked.
struct ClientOptions: ParsableArguments {
    @Argument(
        help: "A client of the configuration. Its published secret is used.", completion: .configuredClients,
        transform: Flags.clientName)
    var client: ClientName

    @OptionGroup var settings: ConfigurationOption

    /// The secret, which no other process gets to know.
    func secret() throws -> PublishedSecret {
        try Hardening.protectSecrets()
        let settings = try AcceptedConfiguration(settings)
        try settings.signInClient(client)
        let found = PublishedSecret.all(of: client, in: settings.loaded, from: settings.source)
        return try PublishedSecret.first(of: client, among: found).get()
    }
}
