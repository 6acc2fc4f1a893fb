import AppleClientSecret
import Digest
import Failures
import Formats
import Keys
import Linux
import Model
import Outputs
import State
import StatusAPI
import SystemPackage
import UserWriter

/// How files are published and read back, and where a client's source is read.
extension Executor {
    /// The destination of a file's secrets, which depends on the file's owner.
    func destination(_ spec: FileSpec) throws(Failure) -> any Destination {
        guard let user = try writer(for: spec) else {
            if let failure = hiding(spec.path) { throw failure }
            return OwnFile(spec, by: publisher, sweeping: sweptDirectories)
        }
        return UserFile(spec, of: user, by: services.writers, naming: naming, sweeping: sweptDirectories)
    }

    /// The user whose writer writes a file; nil when the daemon writes it itself.
    func writer(for spec: FileSpec) throws(Failure) -> String? {
        guard let owner = spec.owner else { return nil }
        let id: UInt32?
        do throws(SystemError) {
            id = try Accounts.userID(owner)
        } catch {
            throw Failure.unknownUser(owner, at: .path(spec.path), cause: error.number)
        }
        guard let id else { throw Failure.unknownUser(owner, at: .path(spec.path)) }
        return id == identity.user ? nil : owner
    }

    func publish(
        _ wanted: [FileSlot: SecretInfo], in spec: FileSpec, mayCreate: Bool, overWriters: Bool
    ) throws(Failure) -> Outcome {
        let destination = try destination(spec)
        var secrets: [FileSlot: Secret] = [:]
        for (slot, issued) in wanted { secrets[slot] = try secret(issued) }
        return .published(
            observe(try destination.publish(secrets, mayCreate: mayCreate, overWriters: overWriters), spec))
    }

    /// Reads a file back. The failure of a refused one has the secrets that programs find there.
    func observe(_ spec: FileSpec) throws(Failure) -> FileObservation {
        let destination = try destination(spec)
        do throws(Failure) {
            return observe(try destination.observe(), spec)
        } catch {
            guard Self.leavesContentToSee(error) else { throw error }
            if let slots = try? destination.look() { throw error.seeing(slots.mapValues { $0.observe(recognised) }) }
            // The daemon has never written behind such a link.
            throw error.code == .untrustedLink ? error.seeing([:]) : error
        }
    }

    /// Whether its file may still be looked at: its disk responds, and so does its user's writer.
    private static func leavesContentToSee(_ failure: Failure) -> Bool {
        switch failure.code {
        case .writerMissing, .writerNotPermitted, .writerSilent, .writerGarbled, .writerRefused, .writerUnconfigured:
            false
        default: !failure.code.traits.contains(.ofReader)
        }
    }

    /// The core's observation of the content that was read. Also has the watcher watch the real directory of the file.
    func observe(_ contents: OutputContents, _ spec: FileSpec) -> FileObservation {
        if !contents.isWatchable { findings?.post(.notNoticed(spec.path)) }
        if contents.realPath != spec.path.description { noteLinkChain(of: .file(spec.path), [spec.path]) }
        return contents.observe { token in
            let found = recognised(token)
            if let issued = found.issued, issued.signer == nil {
                secretCache.put(Secret(token: token, issued: issued))
            }
            return found
        }
    }

    private func recognised(_ token: Token) -> SlotObservation {
        recognise(token).map(SlotObservation.secret) ?? .unusable(TokenReader.objection(to: token))
    }

    /// The places in `former` that are no outputs and hold a secret, or cannot be read. Blocks.
    func orphans(among former: Set<OutputPlace>, excluding outputs: Set<OutputPlace>) -> [OrphanedOutput] {
        OrphanSearch(by: publisher) { TokenReader.read($0, keys: [])?.expiresAt }
            .orphans(among: former, excluding: outputs)
    }

    func metricsFile(_ path: AbsolutePath) -> MetricsFile {
        MetricsFile(path, as: identity, naming: naming, reservedPaths: reservedPaths)
    }

    /// That other programs do not see a file that the daemon writes. Blocks.
    private func hiding(_ path: AbsolutePath) -> Failure? {
        OwnSandbox.hiding(file: path, as: reservedPaths.trusting(identity))
    }

    func write(_ content: MetricsFileContent, toMetricsFile path: AbsolutePath) throws(Failure) -> Outcome {
        if let failure = hiding(path) { throw failure.ofMetricsFile(path) }
        sweptDirectories?.sweep(beside: path)
        try metricsFile(path).write(Array(Self.text(of: content).utf8))
        return .metricsWritten
    }

    private static func text(of content: MetricsFileContent) -> String {
        switch content {
        case .everything(var snapshot):
            // The core does not know it.
            snapshot.version = Version.current
            return Metrics.text(of: snapshot)
        case .times(let snapshot): return Metrics.timesText(of: snapshot)
        }
    }

    func removeMetricsFile(_ path: AbsolutePath) throws(Failure) -> Outcome {
        try metricsFile(path).remove()
        return .metricsRemoved
    }

    // MARK: Sources

    /// The remedy if a source cannot be read; nil if the daemon's user lacks the right to.
    private static func remedy(ofSource error: FileError) -> Remedy? {
        switch error.code {
        case .permissionDenied: nil
        case .isDirectory, .isMountPoint, .notARegularFile:
            .say("name the file with the secret in \"from\", and copy it there as a regular file")
        default: error.remedy ?? error.code.remedy(for: FailureSubject(path: error.path, cause: error.cause))
        }
    }

    /// The content of a client's source.
    func readSource(_ file: FileSource, of client: ClientName) throws(Failure) -> Outcome {
        let path = file.path
        reservedPaths.note(path)
        noteLinkChain(of: .source(client), [path])
        let content: FileContent?
        do throws(FileError) {
            content = try GuardedPath.readProving(
                path.description, as: identity, limit: OutputLimits.fileSize)
        } catch {
            switch error.code {
            case .missing, .directoryMissing: content = nil
            case .fileTooLarge: return .source(.foreign(error.detail ?? error.code.words))
            default:
                let detail = [error.code.words, error.detail].compactMap { $0 }.joined(separator: ": ")
                throw Failure(
                    .sourceUnreadable, at: .path(path), cause: error.errno?.rawValue, detail: detail,
                    remedy: Self.remedy(ofSource: error))
            }
        }
        guard let bytes = content?.bytes, !bytes.isEmpty, let format = file.format.implementation else {
            if content == nil, let failure = OwnSandbox.hiding(source: path) { throw failure }
            return .source(.missing)
        }
        do throws(FormatError) {
            let found = try format.parse(bytes, slots: [file.slot]).slots[file.slot]
            // As `inspect` finds it, also where an output would be put in order first.
            let candidate = try type(of: format).candidate(in: bytes, at: file.slot)
            switch (found, candidate) {
            case (.unclear(let error), _): throw error
            case (.token(let token), _), (.foreign, .bytes(let token)): return .source(judged(token))
            case (.foreign, .missing(let words)): return .source(.foreign(words))
            case (nil, .missing(let words)): return .source(.absent(words))
            case (nil, _), (.foreign, nil): return .source(.missing)
            }
        } catch {
            return .source(.foreign("line \(error.line): \(error.reason)"))
        }
    }

    private func judged(_ bytes: [UInt8]) -> SourceObservation {
        recognise(Token(bytes)).map(SourceObservation.secret)
            ?? .foreign("it \((CompactJWS.objection(to: bytes) ?? .unsigned).words)")
    }

    /// The claims of a token that was read; nil for one that is no client secret. Its bytes are kept if one of the configured keys
    /// has signed them. Then its signature is verified once, however often it is read.
    func recognise(_ token: Token) -> SecretInfo? {
        if let known = secretCache.secret(token.fingerprint)?.issued, known.signer != nil { return known }
        guard let issued = TokenReader.read(token, keys: keyring.publicKeys) else { return nil }
        if issued.signer != nil { secretCache.put(Secret(token: token, issued: issued)) }
        return issued
    }
}
