import AppleClientSecret
import Config
import Daemon
import Failures
import Formats
import Keys
import Linux
import Outputs
import Rotation
import SignIn

/// A secret as an application reads it now, with what the configuration says of its client.
struct PublishedSecret {
    /// The client's name; nil for a secret from a file that a flag names.
    let name: ClientName?
    /// Where it lies.
    let place: String
    let token: Token
    let jws: CompactJWS
    /// `sub`: who the secret authenticates.
    let clientID: ClientID
    /// Nil for a secret from a file that a flag names.
    let configured: (client: ClientConfiguration, key: KeyConfiguration, loader: KeyLoader)?

    /// In bytes; an output's file has the same limit.
    private static let fileLimit = 1 << 20

    /// The secret in a file that a flag names, alone or as JSON.
    init(inFile file: String) throws(CommandFailure) {
        let name = file == NamedFile.standardInput ? "standard input" : file
        let bytes = try FoundSecret.token(
            in: NamedFile.read(file, limit: Self.fileLimit), of: name, variable: nil)
        guard let jws = try? CompactJWS(bytes), let client = jws.stated.subject.value.flatMap({ ClientID($0) }) else {
            throw CommandFailure(.failed, "\(name): this is no client secret; see it with: clientsecretd inspect")
        }
        self.init(name: nil, place: name, token: Token(bytes), jws: jws, clientID: client, configured: nil)
    }

    private init(
        name: ClientName?, place: String, token: Token, jws: CompactJWS, clientID: ClientID,
        configured: (client: ClientConfiguration, key: KeyConfiguration, loader: KeyLoader)?
    ) {
        self.name = name
        self.place = place
        self.token = token
        self.jws = jws
        self.clientID = clientID
        self.configured = configured
    }

    /// What the outputs of a client hold: each different secret once, or why there is none.
    static func all(
        of name: ClientName, in loaded: LoadedConfiguration, from source: ConfigurationSource
    ) -> [Result<PublishedSecret, CommandFailure>] {
        guard let client = loaded.configuration.clients[name], let key = loaded.configuration.keys[client.key] else {
            return []
        }
        let loader = KeyLoader(as: source.identity.trusting(loaded.configuration), credentials: source.credentials)
        var found: [Result<PublishedSecret, CommandFailure>] = []
        var seen: Set<Fingerprint> = []
        for output in client.outputs {
            do throws(CommandFailure) {
                let bytes = try read(output)
                // Nothing else is sent anywhere, whatever somebody put into the file.
                guard let jws = try? CompactJWS(bytes), jws.stated.subject == .value(client.clientID.description) else {
                    throw CommandFailure(
                        .failed,
                        "\(output.path): this is no client secret of \(client.clientID); see what helps with: "
                            + "clientsecretd status")
                }
                let token = Token(bytes)
                guard seen.insert(token.fingerprint).inserted else { continue }
                found.append(
                    .success(
                        PublishedSecret(
                            name: name, place: output.path.description, token: token, jws: jws,
                            clientID: client.clientID, configured: (client, key, loader))))
            } catch {
                found.append(.failure(error))
            }
        }
        guard found.isEmpty else { return found }
        return [.failure(CommandFailure(.failed, "client \"\(name)\" has no output to read the secret from"))]
    }

    /// The first secret that is found; what else is wrong with outputs does not matter then.
    static func first(
        of name: ClientName, in loaded: LoadedConfiguration, from source: ConfigurationSource
    ) throws(CommandFailure) -> PublishedSecret {
        let all = all(of: name, in: loaded, from: source)
        for case .success(let secret) in all { return secret }
        for case .failure(let failure) in all { throw failure }
        throw CommandFailure(.failed, "client \"\(name)\" has no secret")
    }

    private static func read(_ output: Output) throws(CommandFailure) -> [UInt8] {
        let bytes = try NamedFile.read(output.path.description, limit: fileLimit)
        let place = FormatPlace(output.slot)
        let parsed: ParsedFile?
        do throws(FormatFlaw) {
            parsed = try output.format.implementation?.parse(bytes, places: [place])
        } catch {
            throw CommandFailure(.failed, "\(output.path):\(error.line): \(error.reason)")
        }
        guard case .token(let token) = parsed?.places[place] else {
            throw CommandFailure(.failed, "\(output.path): there is no secret in it")
        }
        return token
    }

    /// What is known of this secret after it was refused.
    func evidence(serverTime: WallTime?) -> RefusalAdvice.Evidence {
        let renew = name.map { "renew it: clientsecretd renew \($0)" } ?? "mint a new one"
        guard let (client, key, loader) = configured else {
            return RefusalAdvice.Evidence(
                secret: jws, configured: nil, isSignedByKey: nil, keyFileID: nil, now: .now, serverTime: serverTime,
                renewal: renew)
        }
        _ = SecureHeap.start()
        let signer = try? loader.publicKey(of: key)
        var fileID: KeyID?
        if case .file(let path) = key.location { fileID = KeyID(fileName: path.name) }
        return RefusalAdvice.Evidence(
            secret: jws,
            configured: RefusalAdvice.Ids(team: key.team, keyID: key.keyID, client: client.clientID),
            isSignedByKey: signer.map { $0.verifies(jws) }, keyFileID: fileID, now: .now, serverTime: serverTime,
            renewal: renew)
    }
}

/// The configuration of commands that use published secrets.
struct PublishedSettings {
    let source: ConfigurationSource
    let loaded: LoadedConfiguration

    init(_ option: ConfigurationOption) throws(CommandFailure) {
        let path = option.path(Environment.current)
        source = ConfigurationSource(
            path: path, environment: ServiceUser.environment(for: path), as: ServiceUser.identity)
        loaded = try accepted(source.load())
    }

    /// The client of this name; throws where there is none.
    @discardableResult
    func client(_ name: ClientName) throws(CommandFailure) -> ClientConfiguration {
        let known = loaded.configuration.clients
        if let client = known[name] { return client }
        let near = nearest(to: name.description, among: known.keys.map(\.description))
        throw CommandFailure(
            .usage,
            "there is no client \"\(name)\" in \(source.path)" + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
    }
}
