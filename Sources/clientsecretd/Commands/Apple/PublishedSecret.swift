import AppleAPI
import AppleClientSecret
import Config
import Daemon
import Digest
import Failures
import Formats
import Glibc
import Keys
import Linux
import Model
import Outputs
import State

/// A secret as an application reads it now, with its client's configuration.
struct PublishedSecret {
    /// The client's name; nil for a secret from a file that the caller names.
    let name: ClientName?
    /// Its place.
    let place: String
    let token: Token
    let jws: CompactJWS
    /// The client that it authenticates.
    let clientID: ClientID
    /// The configured key with its key id, else the preferred one; nil for a secret from a file that the caller names.
    let configured: (key: KeyConfiguration, loader: KeyLoader)?

    /// The secrets in a client's outputs: each different one once, or why there is none. Of a client without outputs, the secret
    /// that is served as a credential, which the state directory holds.
    static func all(
        of name: ClientName, in loaded: LoadedConfiguration, from source: ConfigurationSource
    ) -> [Result<PublishedSecret, CommandFailure>] {
        guard let client = loaded.configuration.clients[name] else { return [] }
        let keys = client.keys.compactMap { loaded.configuration.keys[$0] }
        guard let preferred = keys.first else { return [] }
        let loader = KeyLoader(as: source.identity.trusting(loaded.configuration), credentials: source.credentials)
        func secret(_ token: Token, at place: String) throws(CommandFailure) -> PublishedSecret {
            // Nothing else is sent anywhere, with any content of the file.
            guard let jws = token.withBytes({ try? CompactJWS($0) }),
                let stated = jws.stated.client, client.clientID.accepts(stated)
            else {
                throw CommandFailure(
                    .failed,
                    "\(place): this is not a client secret of \(client.clientID.identifier ?? "client \"\(name)\""); "
                        + "renew it: \(Remedy.renew(name.description))"
                )
            }
            let signer = keys.first { $0.keyID.description == jws.stated.keyID.value }
            return PublishedSecret(
                name: name, place: place, token: token, jws: jws, clientID: client.clientID,
                configured: (signer ?? preferred, loader))
        }
        guard !client.outputs.isEmpty else {
            do throws(CommandFailure) {
                let (token, place) = try recorded(name, in: loaded.configuration, from: source)
                return [.success(try secret(token, at: place))]
            } catch {
                return [.failure(error)]
            }
        }
        var seen: Set<Fingerprint> = []
        return client.outputs.map { output in
            Result { () throws(CommandFailure) in try secret(Token(read(output)), at: output.path.description) }
        }
        .filter { result in (try? result.get()).map { seen.insert($0.token.fingerprint).inserted } != false }
    }

    /// The current secret by the state directory's record, and its place.
    private static func recorded(
        _ name: ClientName, in configuration: Configuration, from source: ConfigurationSource
    ) throws(CommandFailure) -> (Token, place: String) {
        guard let directory = source.stateDirectory(of: configuration) else {
            throw CommandFailure(.failed, "client \"\(name)\": the state directory is not known")
        }
        let record: RecordWithSecrets?
        do throws(Failure) {
            record = try StateReader(in: directory, as: source.identity).recall(name)
        } catch {
            guard error.code == .stateUnusable, geteuid() != 0 else { throw CommandFailure(.failed, error.message) }
            throw CommandFailure(
                .failed,
                "the secret of client \"\(name)\" is only in \(directory), which only root and the daemon can read; use sudo"
            )
        }
        guard let current = record?.current else {
            throw CommandFailure(.failed, "\(directory): there is no secret of client \"\(name)\" in it")
        }
        return (current.secret.token, directory.description)
    }

    /// The first secret that was found of a client; other problems with its outputs do not matter then.
    static func first(
        of name: ClientName, among found: [Result<PublishedSecret, CommandFailure>]
    ) -> Result<PublishedSecret, CommandFailure> {
        for case .success(let secret) in found { return .success(secret) }
        return found.first ?? .failure(CommandFailure(.failed, "client \"\(name)\" has no secret"))
    }

    /// The token in an output.
    static func read(_ output: Output) throws(CommandFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(CommandFailure) {
            bytes = try NamedFile.read(output.path.description, limit: OutputLimits.fileSize)
        } catch {
            // The configuration names the file, and no flag.
            throw CommandFailure(.failed, error.message)
        }
        let found: ParsedFile.Content?
        do throws(FormatError) {
            found = try output.format.implementation?.parse(bytes, slots: [output.slot]).slots[output.slot]
            if case .unclear(let error)? = found { throw error }
        } catch {
            throw CommandFailure(.failed, "\(output.path):\(error.line): \(error.reason)")
        }
        guard case .token(let token) = found else {
            throw CommandFailure(.failed, "\(output.path): \(reason(without: output, in: bytes))")
        }
        return token
    }

    /// Why there is no secret in an output, as `inspect` has it.
    private static func reason(without output: Output, in bytes: [UInt8]) -> String {
        if let format = FormatRegistry.named(output.format.name),
            case .missing(let reason)? = try? format.candidate(in: bytes, at: output.slot)
        {
            return reason
        }
        return "there is no secret in it"
    }

    /// How advice ends that a renewal helps.
    static func words(_ renewal: Remedy) -> String { "renew it: \(renewal)" }

    /// The facts about this secret after it was refused.
    func evidence(serverTime: WallTime?) -> RefusalAdvice.Evidence {
        let renew = name.map { Self.words(.renew($0.description)) } ?? "mint a new one"
        var expected: SecretForm.Expectation.Key?
        if let (key, loader) = configured {
            _ = PrivateKeyHeap.start()
            let signer = try? loader.publicKey(of: key)
            expected = SecretForm.Expectation.Key(
                team: key.team, keyID: key.keyID,
                signature: signer.map { $0.verifies(jws) ? .valid : .invalid } ?? .unchecked)
        }
        return RefusalAdvice.Evidence(
            secret: jws, key: expected, keyFileID: configured?.key.location.keyIDOfFileName, now: .now,
            serverTime: serverTime, renewal: renew)
    }
}

extension PublishedSecret {
    /// The secret in a file that the caller names: raw, as JSON or in a variable.
    init(inFile file: String, variable: String?) throws(CommandFailure) {
        let secret = try FoundSecret(in: file, variable: variable)
        guard let client = secret.jws.stated.client else {
            let look = file == NamedFile.standardInput ? nil : ShellCommand.inspect(file)
            throw CommandFailure(
                .failed,
                "\(secret.name): this is not a client secret; \(Remedy.say("look at it with 'inspect'", see: look))")
        }
        self.init(
            name: nil, place: secret.name, token: Token(secret.token), jws: secret.jws, clientID: client,
            configured: nil)
    }
}
