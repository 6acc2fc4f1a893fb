package import AppleClientSecret
package import Config
import Failures
package import Keys
import Linux
package import Model
import Outputs
package import Rotation
import State

/// How good the secrets are that the outputs hold, found out without a daemon and with the caller's own rights.
///
/// The files are opened as an application opens them, so that an output that an application could not read is found.
package struct OfflineEvaluation: Sendable {
    /// The public halves of the keys that this user can read, or the state directory knows.
    package let keys: [PublicKey]
    private let files: [AbsolutePath: Result<FileObservation, Failure>]
    private let evidence: [KeyName: SignatureEvidence]
    private let records: [ClientName: Record]
    private let current: [ClientName: SecretInfo]
    private let clockRun: ClockRun
    private let configuration: Configuration

    /// Reads every output, and the keys that this user may read, to verify the signatures. Blocks.
    package init(of loaded: LoadedConfiguration, from settings: ConfigurationSource) {
        let configuration = loaded.configuration
        self.configuration = configuration
        let keys = Self.keys(of: configuration, settings)
        self.keys = keys.known
        evidence = keys.evidence
        // A clock that may be wrong changes the judgement of secrets in the state directory.
        let isDoubtful = !Clocks.kernelSynchronised()
        clockRun = Self.clockRun(configuration, settings)
        records = configuration.clients.keys.reduce(into: [:]) { records, client in
            records[client] = Self.record(of: client, configuration, settings)?.record
        }
        current = records.filter { isDoubtful || configuration.clients[$0.key]?.verify == true }.compactMapValues(
            \.current)
        var files: [AbsolutePath: Result<FileObservation, Failure>] = [:]
        for (path, spec) in configuration.files {
            files[path] = Self.read(path).map { bytes in
                FileObservation(
                    slots: Publisher.slots(in: bytes, of: spec).mapValues { contents in
                        contents.observe { token in
                            TokenReader.read(token, keys: keys.known).map(SlotObservation.secret)
                                ?? .unusable(TokenReader.objection(to: token))
                        }
                    })
            }
        }
        self.files = files
    }

    /// Why Apple refuses a secret because of its ids; nil if it does not, or if this user cannot know. Blocks.
    ///
    /// - Parameters:
    ///   - file: where it is, and in which variable; nil for one that is in no file.
    package static func refusal(
        ofIdsOf token: [UInt8], in file: (path: AbsolutePath, variable: String?)?, by loaded: LoadedConfiguration,
        from settings: ConfigurationSource
    ) -> Objection? {
        let configuration = loaded.configuration
        let keys = keys(of: configuration, settings)
        guard let issued = TokenReader.read(token, keys: keys.known) else { return nil }
        let client = configuration.clients.values.first { client in
            client.outputs.contains { output in
                output.path == file?.path && (file?.variable.map { .variable($0) } ?? output.slot) == output.slot
            }
        }
        return configuration.refusalOfIds(of: issued, for: client, keys.evidence)
    }

    /// Why the clock cannot tell whether Apple accepts the secret; nil if it can, or if this is no secret. Blocks.
    ///
    /// - Parameters:
    ///   - key: the key that may have signed it, in addition to those of the configuration.
    ///   - loaded: nil if there is no configuration.
    package static func clockFailure(
        for token: [UInt8], key: PublicKey?, by loaded: LoadedConfiguration?, from settings: ConfigurationSource
    ) -> Failure? {
        let known = loaded.map { keys(of: $0.configuration, settings).known } ?? []
        let run = loaded.map { clockRun($0.configuration, settings) } ?? .fromTheStart
        return TokenReader.read(token, keys: known + [key].compactMap(\.self)).flatMap {
            Failure.ofClock(judging: $0, run: run, builtAt: Version.builtAt, at: Now.current)
        }
    }

    /// A daemon's observations of the clock, as far as this user may read them.
    private static func clockRun(_ configuration: Configuration, _ settings: ConfigurationSource) -> ClockRun {
        settings.stateDirectory(of: configuration).map { BootRecord(in: $0, as: settings.identity).run }
            ?? .fromTheStart
    }

    /// The public halves of the keys that this user can read.
    private static func keys(
        of configuration: Configuration, _ settings: ConfigurationSource
    ) -> (known: [PublicKey], evidence: [KeyName: SignatureEvidence]) {
        _ = PrivateKeyHeap.start()
        let identity = settings.identity.trusting(configuration)
        let loader = KeyLoader(as: identity, credentials: settings.credentials)
        var known: [PublicKey] = []
        var evidence: [KeyName: SignatureEvidence] = [:]
        for (name, entry) in configuration.keys {
            let readable = try? loader.publicKey(of: entry)
            guard let key = readable ?? remembered(name, entry, configuration, settings) else { continue }
            known.append(key)
            evidence[name] = .key(key.print)
        }
        return (known, evidence)
    }

    /// Every client's health now.
    package func health() -> [OutputsHealth] {
        configuration.evaluate(
            files, evidence, current: current, records: records, clock: clockRun, builtAt: Version.builtAt,
            at: Now.current
        )
    }

    /// The public half of an unreadable key, such as a credential while the service is stopped. The state directory keeps it
    /// with each secret.
    private static func remembered(
        _ name: KeyName, _ entry: KeyConfiguration, _ configuration: Configuration, _ settings: ConfigurationSource
    ) -> PublicKey? {
        let clients = configuration.clients.filter { $0.value.keys.contains(name) }.keys.sorted()
        for client in clients {
            if let kept = record(of: client, configuration, settings)?.current, kept.secret.issued.keyID == entry.keyID,
                kept.secret.issued.team == entry.team, let key = kept.signerKey.flatMap({ PublicKey(spki: $0) })
            {
                return key
            }
        }
        return nil
    }

    /// A client's record in the state directory; nil if this user may not read it.
    private static func record(
        of client: ClientName, _ configuration: Configuration, _ settings: ConfigurationSource
    ) -> RecordWithSecrets? {
        guard let state = settings.stateDirectory(of: configuration) else { return nil }
        return try? StateReader(in: state, as: settings.identity).recall(client)
    }

    private static func read(_ path: AbsolutePath) -> Result<[UInt8], Failure> {
        do throws(FileError) {
            return .success(try ForeignFile.contents(of: path.description, limit: OutputLimits.fileSize))
        } catch {
            let code: Failure.Code =
                switch error.code {
                case .missing, .notADirectory: .noSecret
                case .permissionDenied: .notReadable
                case .isDirectory, .isMountPoint: .notARegularFile
                case .notARegularFile, .fileTooLarge, .ioError, .outOfDescriptors, .outOfMemory, .notResponding:
                    error.code
                default: .systemError
                }
            let detail = code == .notResponding ? error.detail : nil
            return .failure(Failure(code, at: .path(path), cause: error.cause, detail: detail))
        }
    }
}
