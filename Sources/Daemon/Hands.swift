import AppleClientSecret
import Linux
import Publishing
import Rotation
import Settings
import Signing
import SystemPackage
import Writing

/// Carries jobs out on worker threads: everything that blocks, touches a disk or sees a secret.
final class Hands: Sendable {
    private let shelf: Shelf
    private let keyring: Keyring
    let publisher: Publisher
    let writers: WriterLine
    private let naming: TemporaryNames
    private let boundaries = Boundaries()
    /// Nil where nothing is to be written.
    private let leftovers: Leftovers?
    /// Nil when the state directory cannot be used: then nothing is kept, and every attempt says why.
    private let state: Result<StateDirectory, Trouble>
    private let identity: Identity
    private let settings: SettingsSource
    /// Nil where nothing is to be run.
    private let runner: ActionRunner?
    private let log: Log
    /// Told of every configuration that was read and passed.
    private let adopting: @Sendable (Configuration) -> Void
    /// Told which links lead to a file, and where it really lies.
    private let findings: Inbox<Watcher.Finding>?
    let pool: WorkerPool<Lane>
    private let mounts: QuietMutex<MountTable>

    /// A job's own work waits for a disk, so that threads, not cores, set the pace: twice as many as a lane has at most, for
    /// while secrets are kept in the state directory, others are published. More than that gain nothing.
    private static let threads = 16

    init(
        log: Log, identity: Identity, naming: TemporaryNames, state: Result<StateDirectory, Trouble>,
        settings: SettingsSource,
        shelf: Shelf,
        keyring: Keyring, writers: WriterLine, runner: ActionRunner?, findings: Inbox<Watcher.Finding>?,
        adopting: @escaping @Sendable (Configuration) -> Void = { _ in }
    ) {
        self.adopting = adopting
        self.findings = findings
        self.identity = identity
        self.naming = naming
        self.writers = writers
        self.state = state
        self.settings = settings
        self.shelf = shelf
        self.keyring = keyring
        self.runner = runner
        self.log = log
        publisher = Publisher(as: identity, naming: naming, boundaries: boundaries, sha256: { SHA256.digest($0) })
        leftovers = runner == nil ? nil : Leftovers(naming: naming, as: identity)
        pool = WorkerPool(limit: Self.threads)
        mounts = QuietMutex(MountTable(MountTable.current()))
    }

    /// Starts a job; `report` is called once with what came of it, from the worker's thread.
    func start(_ job: Job, report: @escaping @Sendable (Fact) -> Void) {
        do {
            try pool.run(in: lane(of: job)) { [self] in
                let result: Result<Outcome, Trouble>
                do throws(Trouble) { result = .success(try carryOut(job)) } catch { result = .failure(error) }
                report(.finished(job.id, result))
            }
        } catch {
            report(
                .finished(
                    job.id, .failure(Trouble(.outOfMemory, at: .named("worker thread"), cause: error.errno.rawValue))))
        }
    }

    private func lane(of job: Job) -> Lane {
        switch job.work {
        case .readConfiguration, .checkConfiguration: .settings
        case .readKey: .keys
        case .recall, .keep, .recallTold, .keepTold, .tidyRecords: .state
        case .mint: .signing
        case .look(let spec), .publish(let spec, _, _): spec.owner.map(Lane.writer) ?? lane(of: spec.path)
        case .run(let action, _): .hook(action.id)
        }
    }

    /// What jobs on a path wait for together.
    func lane(of path: AbsolutePath) -> Lane {
        .mount(mounts.withLock { $0.point(of: path) })
    }

    /// Does what a job asks for. Blocks.
    func carryOut(_ job: Job) throws(Trouble) -> Outcome {
        switch job.work {
        case .readConfiguration: readConfiguration()
        case .checkConfiguration: checkConfiguration()
        case .readKey(let name, let entry): try readKey(name, entry)
        case .recall(let client): try recall(client)
        case .look(let spec): try look(spec)
        case .mint(_, let key, let claims): try mint(key, claims)
        case .keep(let client, let record): try keep(record, of: client)
        case .publish(let spec, let secrets, let mayCreate): try publish(secrets, in: spec, mayCreate: mayCreate)
        case .run(let action, let covering): try run(action, covering)
        case .recallTold: try recallTold()
        case .keepTold(let told): try keep(told)
        case .tidyRecords(let clients, let moment): tidy(clients, moment)
        }
    }

    private func checkConfiguration() -> Outcome {
        switch settings.load() {
        case .success(let loaded):
            noteTrail(of: .configuration, loaded.files)
            return .passes
        case .failure(let refusal):
            return .refused(refusal.diagnostics.map(\.description))
        }
    }

    private func readConfiguration() -> Outcome {
        switch settings.load() {
        case .success(let loaded):
            mounts.withLock { $0 = MountTable(MountTable.current()) }
            for diagnostic in loaded.warnings + loaded.notActedOn { log.warn(diagnostic.description) }
            if let wanted = settings.stateDirectory(of: loaded.configuration), let state = try? state.get(),
                wanted != state.path
            {
                log.warn("the state directory goes on being \(state.path) until the daemon is started anew")
            }
            adopt(loaded)
            adopting(loaded.configuration)
            return .configuration(loaded.configuration)
        case .failure(let refusal):
            return .refused(refusal.diagnostics.map(\.description))
        }
    }

    /// Takes in what the configuration reads and writes, before anything of it is done.
    func adopt(_ loaded: Loaded) {
        noteTrail(of: .configuration, loaded.files)
        let configuration = loaded.configuration
        let state = settings.stateDirectory(of: configuration).flatMap { path in
            try? GuardedPath.directory(path.description, as: identity)
        }
        boundaries.draw(
            inputs: configuration.inputs.union(loaded.files),
            outputs: Set(configuration.files.keys).union([configuration.metricsFile].compactMap { $0 }), state: state)
    }

    private func readKey(_ name: KeyName, _ entry: KeyEntry) throws(Trouble) -> Outcome {
        let files = [entry.location, entry.passphrase].compactMap { location -> AbsolutePath? in
            if case .file(let path)? = location { path } else { nil }
        }
        for path in files { boundaries.note(path) }
        noteTrail(of: .key(name), files)
        do throws(Trouble) {
            let key = try KeyLoader(as: identity, credentials: settings.credentials).load(entry)
            keyring.put(key, as: name)
            return .key(key.print)
        } catch {
            keyring.remove(name)
            throw error
        }
    }

    private func recall(_ client: ClientName) throws(Trouble) -> Outcome {
        do throws(Trouble) {
            return remember(try state.get().recall(client))
        } catch {
            // It was set aside: there is nothing left to try again, and nothing is lost but what the outputs know too.
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn("\(client): \(error.sentence)")
            return .recalled(Record())
        }
    }

    /// Puts what the state directory held where it can be used.
    func remember(_ record: ClientRecord?) -> Outcome {
        guard let record else { return .recalled(Record()) }
        if let current = record.current {
            if let spki = current.signerKey, let key = PublicKey(spki: spki) { keyring.remember(key) }
            shelf.put(Secret(token: current.token, issued: current.issued))
        }
        return .recalled(record.record)
    }

    private func keep(_ record: Record, of client: ClientName) throws(Trouble) -> Outcome {
        let state = try state.get()
        var current: KeptSecret?
        if let issued = record.current {
            guard let secret = shelf.secret(issued.fingerprint) else { throw lost(issued) }
            current = KeptSecret(
                token: secret.token, issued: issued, signerKey: issued.signer.flatMap(keyring.publicKey)?.spki)
        }
        try state.keep(ClientRecord(record, current: current), of: client)
        return .kept(record)
    }

    private func recallTold() throws(Trouble) -> Outcome {
        do throws(Trouble) {
            return .recalledTold(try state.get().recallTold() ?? Told())
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn(error.sentence)
            return .recalledTold(Told())
        }
    }

    private func keep(_ told: Told) throws(Trouble) -> Outcome {
        try state.get().keep(told)
        return .keptTold(told)
    }

    private func tidy(_ clients: Set<ClientName>, _ moment: WallTime) -> Outcome {
        // Where there is no state directory there is nothing to tidy.
        if case .success(let state) = state { state.tidy(keeping: clients, expiredBefore: moment) }
        return .tidied
    }

    private func look(_ spec: FileSpec) throws(Trouble) -> Outcome {
        if let user = try writer(for: spec) {
            return .seen(look(try writers.look(spec, as: user, naming: leftovers == nil ? nil : naming), spec))
        }
        // Every file is looked at before it is first written.
        leftovers?.sweep(beside: spec.path)
        return .seen(look(try publisher.look(spec), spec))
    }

    /// The user whose writer a file is for; nil when it is to be the daemon's own.
    func writer(for spec: FileSpec) throws(Trouble) -> String? {
        guard let owner = spec.owner else { return nil }
        let id: UInt32?
        do throws(SystemError) {
            id = try Accounts.userID(owner)
        } catch {
            throw Trouble(.unknownUser, at: .path(spec.path), cause: error.errno.rawValue, detail: owner)
        }
        guard let id else { throw Trouble(.unknownUser, at: .path(spec.path), detail: owner) }
        return id == identity.user ? nil : owner
    }

    private func mint(_ name: KeyName, _ claims: Claims) throws(Trouble) -> Outcome {
        guard let key = keyring.signingKey(name) else { throw Trouble(.keyMissing, at: .key(name)) }
        let minted = try key.mint(claims)
        shelf.put(Secret(token: minted.token, issued: minted.issued))
        return .minted(minted.issued)
    }

    private func publish(
        _ wanted: [Slot: Issued], in spec: FileSpec, mayCreate: Bool
    ) throws(Trouble) -> Outcome {
        let user = try writer(for: spec)
        var secrets: [Slot: Secret] = [:]
        for (slot, issued) in wanted {
            guard let secret = shelf.secret(issued.fingerprint) else { throw lost(issued) }
            secrets[slot] = secret
        }
        if let user {
            return .published(
                look(try writers.publish(secrets, in: spec, as: user, mayCreate: mayCreate, naming: naming), spec))
        }
        return .published(look(try publisher.publish(secrets, in: spec, mayCreate: mayCreate).sight, spec))
    }

    private func look(_ report: WriterLine.Report, _ spec: FileSpec) -> Look {
        if !report.isWatchable { findings?.post(.notNoticed(spec.path)) }
        return look(report.sight, spec)
    }

    private func look(_ sight: FileSight, _ spec: FileSpec) -> Look {
        if sight.realPath != spec.path.description { noteTrail(of: .file(spec.path), [spec.path]) }
        return sight.look { token in
            if let known = shelf.secret(token.fingerprint), known.issued.signer != nil { return known.issued }
            guard let issued = TokenReader.read(token, keys: keyring.publicKeys) else { return nil }
            shelf.put(Secret(token: token, issued: issued))
            return issued
        }
    }

    func metricsFile(_ path: AbsolutePath) -> MetricsFile {
        MetricsFile(path, as: identity, naming: naming, boundaries: boundaries)
    }

    /// Has `metrics_file` say this; returns why it does not. Blocks.
    func write(_ text: [UInt8], toMetricsFile path: AbsolutePath) -> Trouble? {
        leftovers?.sweep(beside: path)
        do throws(Trouble) { try metricsFile(path).write(text) } catch { return error }
        return nil
    }

    /// Tells where files that are reached by way of links have to be watched.
    private func noteTrail(of resource: Resource, _ paths: [AbsolutePath]) {
        guard let findings else { return }
        let places = paths.flatMap { LinkTrail.places(of: $0.description) }.compactMap { AbsolutePath($0) }
        findings.post(.trail(Set(places), of: resource))
    }

    private func run(_ action: Action, _ covering: [ClientName: Covered]) throws(Trouble) -> Outcome {
        try runner?.run(action, covering)
        return .ran
    }

    /// A secret whose bytes are gone is a mistake of the program's; the next look finds or mints another.
    private func lost(_ issued: Issued) -> Trouble {
        Trouble(.systemError, at: .named(issued.fingerprint.description), detail: "its bytes are not known any more")
    }

    /// Forgets secrets that nothing speaks of any more.
    func forget(allBut fingerprints: Set<Fingerprint>) {
        shelf.keepOnly(fingerprints)
    }

    var secretCount: Int { shelf.count }
}
