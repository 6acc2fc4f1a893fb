package import AppleClientSecret

/// Everything that is known, wanted and under way.
package struct World: Hashable, Sendable {
    package var configuration = Configuration(keys: [:], clients: [:])
    var index = Index(Configuration(keys: [:], clients: [:]))
    package var keys: [KeyName: KeyState] = [:]
    package var clients: [ClientName: ClientState] = [:]
    package var files: [AbsolutePath: FileState] = [:]
    package var running: [Resource: Job] = [:]
    package var attempts: [Resource: Attempts] = [:]
}

/// What is known of a key.
package struct KeyState: Hashable, Sendable {
    /// Whether it was tried since the start, the last reload or the last sign of a change.
    package var wasRead = false
    /// Which key the file holds; nil while it cannot be used.
    package var print: KeyDigest?
    /// Which key was last known behind the configured key id.
    var known: KeyDigest?
    /// When that was last another one than before.
    var change: KeyChange?
    /// Notices since the reading of the file last began.
    var debounce: Debounce?
}

/// What is known of a client.
package struct ClientState: Hashable, Sendable {
    /// Whether the state directory was asked; until then nothing is decided.
    package var wasRecalled = false
    /// Whether it could not answer: what it holds may be wanted yet.
    var wasNotAnswered = false
    /// What the state directory is known to hold.
    package var kept = Record()
    /// The job by which ``kept`` came to be known.
    var keptBy = JobID(number: 0)
    /// The secret in force.
    package var current: SecretInfo?
    /// Whether ``current`` was chosen among all that is to be found; it then stays while it is usable, although an
    /// older secret that lasts longer may still lie in a file.
    var hasChosen = false
    /// Why the secret that is being made was wanted.
    var mintReason: MintReason?
    package var delivered: [ActionID: SecretInfo] = [:]
    package var ranAt: [ActionID: WallTime] = [:]
    /// Actions that run although they ran for this secret, because bad content stood for too long; and the first job whose
    /// run counts, for one that began before may have had that content read.
    var owed: [ActionID: JobID] = [:]
    /// Whether a new secret was asked for, whatever the age of the current one.
    package var isForced = false
    package var renewals = 0
    package var counts = Counts()
    /// When everything was last found to be done that was not before.
    package var lastSuccessAt: WallTime?
    /// Whether everything is known and nothing is being made, so that its files and actions need not wait for it.
    package var isSettled = false

    /// - Parameter actions: the client's own: what others are owed is not remembered.
    func record(
        shared: Set<AbsolutePath>, actions: [ActionID], outputs: Set<OutputPlace>, keyChange: KeyChange?
    ) -> Record {
        Record(
            current: current, delivered: delivered, shared: shared, outputs: outputs,
            owed: owed.isEmpty ? [] : Set(actions.filter { owed[$0] != nil }), keyChange: keyChange)
    }
}

/// What is known of a file.
package struct FileState: Hashable, Sendable {
    /// Nil until it was looked at.
    package var observed: FileObservation?
    /// Whether it was looked at since the last sign of a change.
    package var isFresh = false
    package var writtenAt: WallTime?
    /// Whether a write has failed since the file was last seen: it may hold the old content or the new.
    var isUncertain = false
    /// Whether the file held lines of somebody else's when it was last seen to exist; the state directory may not be
    /// there to remember it.
    var heldOtherLines = false
    /// Whether there was notice of it during the last look as well: somebody may never rest, and one look has to do.
    var isRestless = false
    var drift = Drift()
}

/// How often something has failed in a row, and when it is tried again.
package struct Attempts: Hashable, Sendable {
    package var failures: Int
    package var failure: Failure
    package var since: WallTime
    package var notBefore: BootTime
    /// The job that failed last.
    package var job: JobID
    /// Whether it was a look at a file: then a successful one ends the trouble, where otherwise only a write does.
    var wasObservation: Bool
    /// When the trouble was last written to the journal.
    var loggedAt: BootTime
    /// Whether it was: what says the same as another line is not.
    var isLogged: Bool
}

/// A client with all that the configuration says of it, put together once and shared by all who ask at every turn.
final class Subject: Hashable, Sendable {
    let name: ClientName
    let entry: ClientConfiguration
    let key: KeyConfiguration
    /// Each once, in order.
    let files: [AbsolutePath]
    /// The same, in the configuration's order.
    let outputs: [AbsolutePath]
    /// The same files with the client's own slots in each: thousands of clients may share one.
    let places: [Place]
    /// Each once, in the configuration's order.
    let actions: [ActionID]

    /// Where a client's secret stands in a file.
    struct Place: Hashable, Sendable {
        let path: AbsolutePath
        var slots: [Slot] = []
    }

    init(name: ClientName, entry: ClientConfiguration, key: KeyConfiguration, places: [Place], actions: [ActionID]) {
        self.name = name
        self.entry = entry
        self.key = key
        files = places.map(\.path)
        outputs = entry.outputs.map(\.path).reduce(into: []) { paths, path in
            if !paths.contains(path) { paths.append(path) }
        }
        self.places = places
        self.actions = actions
    }

    static func == (left: Subject, right: Subject) -> Bool {
        left.name == right.name && left.entry == right.entry && left.key == right.key
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// Who shares what: the configuration, read the other way round.
struct Index: Hashable, Sendable {
    var subjects: [ClientName: Subject] = [:]
    var specs: [AbsolutePath: FileSpec]
    var clientsOfFile: [AbsolutePath: [ClientName]] = [:]
    var clientsOfAction: [ActionID: [ClientName]] = [:]
    var clientsOfKey: [KeyName: [ClientName]] = [:]
    /// Of two clients that name one action with different timeouts the longer one counts.
    var actions: [ActionID: Action] = [:]
    /// The same, and those of `on_state_change` for each state.
    var probes: [ActionID: Action] = [:]

    init(_ configuration: Configuration) {
        specs = configuration.files
        var slots: [ClientName: [AbsolutePath: [Slot]]] = [:]
        for spec in specs.values {
            for (slot, owner) in spec.slots { slots[owner, default: [:]][spec.path, default: []].append(slot) }
        }
        for (name, client) in configuration.clients.sorted(by: { $0.key < $1.key }) {
            guard let key = configuration.keys[client.key] else { continue }
            let files = Set(client.outputs.map(\.path)).sorted()
            for path in files { clientsOfFile[path, default: []].append(name) }
            var ids: [ActionID] = []
            for action in client.onChange where !ids.contains(action.id) {
                ids.append(action.id)
                clientsOfAction[action.id, default: []].append(name)
                if case .exec(_, let timeout) = action, case .exec(_, let known)? = actions[action.id], known >= timeout
                {
                    continue
                }
                actions[action.id] = action
            }
            clientsOfKey[client.key, default: []].append(name)
            let places = files.map { Subject.Place(path: $0, slots: slots[name]?[$0] ?? []) }
            subjects[name] = Subject(name: name, entry: client, key: key, places: places, actions: ids)
        }
        probes = actions
        for action in configuration.onStateChange.flatMap(\.forEachState) { probes[action.id] = action }
    }

    func files(of client: ClientName) -> [AbsolutePath] { subjects[client]?.files ?? [] }
    func actions(of client: ClientName) -> [ActionID] { subjects[client]?.actions ?? [] }

    /// Those that share a resource; none where it is one client's own.
    func clients(of resource: Resource) -> [ClientName] {
        switch resource {
        case .file(let path): clients(of: path)
        case .action(let id), .probe(let id): clients(of: id)
        case .key(let name): clients(of: name)
        case .client, .record, .configuration, .stateChangeAction, .state: []
        }
    }

    func clients(of file: AbsolutePath) -> [ClientName] { clientsOfFile[file] ?? [] }
    func clients(of action: ActionID) -> [ClientName] { clientsOfAction[action] ?? [] }
    func clients(of key: KeyName) -> [ClientName] { clientsOfKey[key] ?? [] }
}

/// Something that the daemon as a whole lacks, such as a place for its socket.
struct DaemonFault: Hashable, Sendable {
    let failure: Failure
    let since: WallTime
    /// When it is tried again by itself; nil when it is not.
    var nextAttempt: BootTime?
}

extension Rotation {
    /// Every secret that is in force, published, kept or under way: the bytes of all others may be forgotten.
    package var fingerprintsInUse: Set<Fingerprint> {
        var used: Set<Fingerprint> = []
        for state in world.clients.values {
            for issued in [state.current, state.kept.current] + Array(state.delivered.values) {
                if let issued { used.insert(issued.fingerprint) }
            }
        }
        for issued in served.values { used.insert(issued.fingerprint) }
        for file in world.files.values {
            for observation in (file.observed?.slots ?? [:]).values {
                if let issued = observation.issued { used.insert(issued.fingerprint) }
            }
        }
        for job in world.running.values {
            switch job.work {
            case .publish(_, let secrets, _): used.formUnion(secrets.values.map(\.fingerprint))
            case .keep(_, let record): if let issued = record.current { used.insert(issued.fingerprint) }
            case .readConfiguration, .checkConfiguration, .readKey, .recall, .observe, .mint, .run, .probe,
                .recallReportedStates,
                .keepReportedStates, .tidyRecords:
                break
            }
        }
        return used
    }
}
