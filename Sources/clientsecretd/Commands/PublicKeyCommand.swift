import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Keys
import Linux
import Model

/// `public-key`: prints the public halves of the configured keys. Machines that receive their secrets need them.
struct PublicKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public-key",
        abstract: "Print the public halves of the keys, for machines without the keys.",
        discussion: """
            The output is the 'keys' section for a machine that receives its secrets. Exits 1 if a key cannot be \
            read.

            Examples:
              clientsecretd public-key
              clientsecretd public-key apple
            """)

    @Argument(help: "The keys (default: all of the configuration).", transform: Flags.keyName)
    var names: [KeyName] = []

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var answer: JSONFlag

    func run() throws {
        try Hardening.protectSecrets()
        _ = PrivateKeyHeap.start()
        let settings = try AcceptedConfiguration(settings)
        let (source, loaded) = (settings.source, settings.loaded)
        let known = loaded.configuration
        for name in names where known.keys[name] == nil {
            throw CommandFailure.unknown(
                "key", name.description, among: known.keys.keys.map(\.description), in: source.path)
        }
        let loader = KeyLoader(as: source.identity.trusting(known), credentials: source.credentials)
        var found: [PublicKeyEntry] = []
        for (name, entry) in known.keys.sorted(by: { $0.key < $1.key }) where names.isEmpty || names.contains(name) {
            do throws(Failure) {
                let key = try loader.publicKey(of: entry)
                found.append(PublicKeyEntry(name: name, entry: entry, text: Base64.encode(key.spki)))
            } catch {
                CommandOutput.complain(lines: FailurePositions(in: loaded).diagnostic(error).description)
                throw CommandFailure(configuredKey: error)
            }
        }
        try answer.show(
            JSONText.object([("keys", .array(found.map(\.json)))]).rendered, or: ["keys:"] + found.map(\.line))
    }
}

/// One key as `public-key` prints it.
struct PublicKeyEntry {
    let name: KeyName
    let entry: KeyConfiguration
    /// Its SubjectPublicKeyInfo in base64.
    let text: String

    /// A line below `keys:`.
    var line: String { "  \(name): {team_id: \(entry.team), key_id: \(entry.keyID), public_key: \(text)}" }

    var json: JSONText {
        .object([
            ("name", .string(name.description)), ("team_id", .string(entry.team.description)),
            ("key_id", .string(entry.keyID.description)), ("public_key", .string(text)),
        ])
    }
}
