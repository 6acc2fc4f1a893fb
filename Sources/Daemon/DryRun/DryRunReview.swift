import Actions
import AppleClientSecret
import Config
import Failures
import Linux
import Model
import Outputs
import Rotation
import State
import Systemd

/// Looks for what would keep a configuration from working.
struct DryRunReview {
    private let loaded: LoadedConfiguration
    private let settings: ConfigurationSource
    private let rotation: Rotation
    private let reader: DryRunReader
    /// The sandbox of the unit that runs the daemon; nil if systemd does not, or cannot be asked.
    private var review: SandboxReview?
    /// The service that runs the daemon and the user who runs it; nil if the daemon is not known to be run by one.
    private let daemon: (name: String, user: String?)?
    /// The units' settings in effect; nil as above.
    private let inEffect: UnitsInEffect?
    /// The addresses that the helpers' units have to allow; nil as above.
    private let addresses: RoleAddresses?
    /// Failures of the jobs that ran which no part has taken yet.
    private var failed: [Resource: Failure]

    private var findings = DryRunFindings()

    private var configuration: Configuration { loaded.configuration }
    private var identity: Identity { settings.identity }

    init(
        _ loaded: LoadedConfiguration, _ settings: ConfigurationSource, _ rotation: Rotation, _ reader: DryRunReader,
        _ unit: ServiceUnit?, _ inEffect: UnitsInEffect?
    ) {
        self.loaded = loaded
        self.settings = settings
        self.rotation = rotation
        self.reader = reader
        review = unit.map { SandboxReview($0) }
        if let unit {
            daemon = (name: unit.name, user: unit.settings.user)
            var found = inEffect
            if found == nil {
                found = UnitsInEffect(of: loaded.configuration, daemon: unit)
                found?.judgeSources(for: loaded)
            }
            self.inEffect = found
        } else {
            daemon = nil
            self.inEffect = nil
        }
        addresses = self.inEffect == nil ? nil : RoleAddresses(of: loaded)
        failed = rotation.failures
    }

    /// Finds everything, part by part.
    ///
    /// - Parameter socket: the daemon's status socket.
    mutating func findAll(at now: Now, socket: String) -> DryRunFindings {
        add([problem(withLoopbackOf: PackageUnit.verifier, at: .named(PackageUnit.verifier))].compactMap(\.self))
        add(inEffect?.problemsAtStart ?? [])
        for (alias, failure) in inEffect?.problemsWithAliases ?? [] {
            for (name, client) in configuration.clients where client.credential?.unit == alias {
                add([failure], for: name)
            }
        }
        add(inEffect?.problemsWithReaders(in: configuration) ?? [])
        add(inEffect?.problemsWithSockets(in: configuration) ?? [])
        add([rotation.clockFailure].compactMap(\.self))
        add(loaded.files.prefix(1).compactMap { review?.problem(withConfiguration: $0) })
        findInFiles()
        findInTargets()
        findInKeys()
        findInStore(at: now)
        findInSources()
        for (resource, failure) in failed { add([failure], for: resource.client) }
        if rotation.clockFailure == nil, configuration.clients.keys.contains(where: { rotation.isSpared($0, at: now) })
        {
            findings.limitations.append(Failure(.clockPerhapsAhead, at: .clock, detail: now.wall.description))
        }
        add(rotation.keyChanges(at: now))
        findInActions()
        findInStateDirectory()
        add(reader.problems(withMetricsFile: configuration.metricsFile, &review))
        if let group = configuration.controlGroup, (try? Accounts.groupID(group)) == nil {
            add([.unknownGroup(group, at: .named(group))])
        }
        findings.warningsOfUnits = [inEffect?.weakness, warning(ofControlGroupAt: socket)].compactMap(\.self)
        findings.dropIns = review?.dropIns ?? []
        findings.idleUnits = daemon.map { IdleUnit.all(for: configuration, daemon: $0.name, as: $0.user) } ?? []
        for (name, client) in configuration.clients.sorted(by: { $0.key < $1.key }) where client.verify {
            findings.limitations += [reader.executor.services.verifier.problem(for: name)].compactMap(\.self)
        }
        return findings
    }

    /// That the socket that systemd created lets in another group than the configuration says; nil if it does not, or
    /// there is none.
    ///
    /// - Parameter socket: the daemon's status socket.
    private func warning(ofControlGroupAt socket: String) -> String? {
        // The daemon creates a socket other than the service's itself. This group gets access to it.
        guard SystemManager.isSystemd, CommandContext.current.socket == nil, let name = configuration.controlGroup,
            let group = try? Accounts.groupID(name), let status = FileStatus.following(socket),
            status.kind == .socket, status.group != group, status.mode & 0o002 == 0, !FileStatus.hasAccessList(socket)
        else { return nil }
        let unit = PackageUnit.statusSocket
        return
            "members of \(Printable.name(name)) (control_group) cannot open \(Printable.name(socket)), which belongs to "
            + "\(Owner.describe(group: status.group)); write SocketGroup=\(Printable.name(name)) into the [Socket] section of "
            + "\(unit) (systemctl edit \(unit)), then restart it and \(PackageUnit.daemon)"
    }

    private mutating func add(_ failures: [Failure], for client: ClientName? = nil) {
        findings.problems += failures.map { DryRunFindings.Problem(failure: $0, client: client) }
    }

    private mutating func findInFiles() {
        let files = configuration.files
        let found = reader.problems(
            with: files.values.filter { failed[.file($0.path)] == nil }.map {
                ($0, mayCreate: rotation.mayCreate($0.path))
            })
        for (path, spec) in files {
            let writer = try? reader.executor.writer(for: spec)
            let met =
                failed.removeValue(forKey: .file(path)) ?? found[path]
                ?? (writer == nil ? review?.problem(withGroupOf: spec, as: identity) : nil)
            let all = review?.problems(with: path, writer: writer, met: met) ?? [met].compactMap { $0 }
            for client in Set(spec.slots.values) { add(all, for: client) }
            // A file of another format is not an environment file with errors as well.
            if met?.code == .outputForeign { continue }
            for (slot, failure) in rotation.observation(of: path)?.editFailures ?? [:] {
                add([failure], for: spec.slots[slot])
            }
        }
    }

    private mutating func findInTargets() {
        for (name, client) in configuration.clients.sorted(by: { $0.key < $1.key }) {
            for target in client.targets.map(\.target) {
                let failure =
                    reader.executor.services.pusher.problem(with: target)
                    ?? inEffect?.problem(with: target, token: loaded.tokenCredentials[target])
                    ?? problem(withLoopbackOf: PackageUnit.pusher(of: target), at: .target(target))
                let found = loaded.problems(withFilesOf: target, as: identity(of: PackageUnit.pusher(of: target)))
                add(
                    found.isEmpty ? inEffect?.problems(with: target, files: loaded.files(of: target)) ?? [] : found,
                    for: name)
                let sources = inEffect?.sources
                add([sources?.unusableTokens[target]].compactMap(\.self), for: name)
                findings.limitations += [sources?.unguardedTokens[target]].compactMap(\.self)
                guard let failure else { continue }
                // Without systemd it may be for `run --once`, which needs no socket.
                if failure.code == .pushServiceMissing, !SystemManager.isSystemd {
                    findings.limitations.append(failure)
                } else {
                    add([failure], for: name)
                }
            }
        }
    }

    private func problem(withLoopbackOf unit: String, at place: Failure.Place) -> Failure? {
        addresses.flatMap { inEffect?.problem(withLoopbackOf: unit, at: place, $0) }
    }

    private mutating func findInKeys() {
        findings.sharedKeys = rotation.sharedKeys
        for (name, entry) in configuration.keys {
            let hidden = review?.problems(with: entry, as: identity) ?? []
            if !hidden.isEmpty { failed[.key(name)] = nil }
            add(hidden)
            // One that nothing runs with is missing already.
            if failed[.key(name)]?.code != .credentialMissing {
                add(entry.credentials.compactMap { inEffect?.problem(withCredential: $0) })
            }
            if case .credential(let name) = entry.location {
                findings.limitations += [inEffect?.sources.unguardedKeys[name]].compactMap(\.self)
            }
        }
    }

    /// The user of a service of the network program. Without a unit the program runs as this user.
    private func identity(of unit: String) -> Identity { inEffect?.unit(unit)?.identity ?? identity }

    /// This does not ask the store for its content.
    private mutating func findInStore(at now: Now) {
        if let failure = failed.removeValue(forKey: .store), failure.code == .storeServiceMissing {
            add([failure])
        } else if let failure = inEffect?.problemWithStore
            ?? problem(withLoopbackOf: PackageUnit.store, at: .store)
        {
            add([failure])
        }
        add(inEffect?.problems(withStoreFiles: loaded.storeFiles) ?? [])
        findings.limitations += inEffect?.sources.problemsWithStore ?? []
        guard let store = loaded.store else { return }
        findings.storeFailures = StoreLoginFiles.failures(
            of: store, as: identity, readBy: identity(of: PackageUnit.store), at: now.wall)
    }

    private mutating func findInSources() {
        for (name, client) in configuration.clients.sorted(by: { $0.key < $1.key }) {
            guard let path = client.source?.path else { continue }
            let met = rotation.sourceFailures[name]
            let hidden = review?.problem(withSource: path)
            guard let failure = hidden ?? met else { continue }
            failed[.source(name)] = nil
            // An older source, or none, changes nothing as long as there is a secret.
            if failure.code == .sourceWrong || failure.code == .sourceUnreadable || rotation.needsSource(name) {
                add([failure], for: name)
            }
        }
    }

    private mutating func findInActions() {
        let notices = configuration.onStateChange.flatMap(\.forEachState)
        let actions = Set(configuration.clients.values.flatMap(\.onChange) + notices)
        let (ofUnits, withoutEffect) = UnitAction(cancel: nil).review(
            Array(actions), as: Identity.ofService(askedBy: identity).user)
        findings.limitations += withoutEffect.values.sorted { $0.message < $1.message }
        for (name, client) in configuration.clients.sorted(by: { $0.key < $1.key }) {
            for action in client.onChange {
                add([problemWithProgram(of: action) ?? ofUnits[action]].compactMap { $0 }, for: name)
            }
        }
        for action in configuration.onStateChange {
            let ofUnit = Set(action.forEachState).compactMap { ofUnits[$0] }.sorted { $0.message < $1.message }
            add([problemWithProgram(of: action)].compactMap { $0 } + ofUnit)
        }
        let outputs = Set(configuration.places.map(\.path.description))
        for action in actions.sorted(by: { $0.id < $1.id }) {
            findings.unguardedArguments += ExecAction.unguardedArguments(of: action, as: identity)
                .filter { !outputs.contains($0) }
                .map { DryRunFindings.UnguardedArgument(action: action.id, path: $0) }
        }
    }

    private func problemWithProgram(of action: Action) -> Failure? {
        review?.problem(with: action) ?? ExecAction.problem(with: action, as: identity)
    }

    private mutating func findInStateDirectory() {
        guard let path = settings.stateDirectory(of: configuration) else { return }
        let found = reader.problemsWithState(&review)
        // Each client's record fails for the same reason.
        if !found.isEmpty { findings.problems.removeAll { $0.failure.code == .stateUnusable } }
        add(found)
        if review?.makes(path) == true { findings.stateDirectoryMadeAtStart = path }
    }
}
