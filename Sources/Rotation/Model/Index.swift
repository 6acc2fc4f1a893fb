package import AppleClientSecret

/// The core's state: everything that is known, wanted and under way.
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
    /// Whether reading it was tried since the start, the last reload or the last sign of another key.
    package var wasRead = false
    /// Which key the file holds; nil while it cannot be used.
    package var print: KeyDigest?
    /// The key last known to have the configured key id.
    var known: KeyDigest?
    /// When and how ``known`` last became another one.
    var change: KeyChange?
    /// Change notices since the last read of the file began.
    var debounce: Debounce?
}

/// What is known of a client.
package struct ClientState: Hashable, Sendable {
    /// Whether the state directory was asked for the record; until then nothing is decided.
    package var wasRecalled = false
    /// Whether reading the record failed: it may still be needed.
    var wasNotAnswered = false
    /// What the state directory is known to hold of the client.
    package var kept = Record()
    /// The job that wrote or read ``kept``.
    var keptBy = JobID(number: 0)
    /// The secret in force.
    package var current: SecretInfo?
    /// Whether ``current`` was chosen among all secrets found; it then stays while it is usable, although an older one
    /// that lasts longer may still lie in a file.
    var hasChosen = false
    /// Why a secret is being minted.
    var mintReason: MintReason?
    package var delivered: [ActionID: SecretInfo] = [:]
    package var ranAt: [ActionID: WallTime] = [:]
    /// Actions to run again for the same secret, because applications may have read other content; and the first job
    /// whose run counts, because one that began earlier may have had that content read.
    var owed: [ActionID: JobID] = [:]
    /// Whether a new secret was requested, whatever the age of the current one.
    package var isForced = false
    package var renewals = 0
    package var counts = Counts()
    /// When the client was last found published and delivered after it was not.
    package var lastSuccessAt: WallTime?
    /// Whether everything is known and no secret or record is under way, so that its files and actions need not wait.
    package var isSettled = false

    /// - Parameter actions: the client's own; that others must run again is not kept.
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
    /// Nil until the file was read.
    package var observed: FileObservation?
    /// Whether ``observed`` still counts; if not, the file is read back first.
    package var isFresh = false
    package var writtenAt: WallTime?
    /// Whether a write has failed since the file was last read: it may hold the old content or the new.
    var isUncertain = false
    /// Whether the file held lines besides our variables when it last existed; also known here because the state
    /// directory may be unusable.
    var heldOtherLines = false
    /// Whether a change notice came during the last read: the next read then counts, since a file may never be quiet.
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
    /// Whether reading a file failed: then a successful read ends the failure, where otherwise only a write does.
    var wasObservation: Bool
    /// When the failure was last logged.
    var loggedAt: BootTime
    /// Whether it was logged: a failure that another log event reports already is not.
    var isLogged: Bool
}

/// A client with its whole configuration, built once per configuration and shared by every plan.
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

/// Which clients share each key, file and action: the configuration inverted.
struct Index: Hashable, Sendable {
    var subjects: [ClientName: Subject] = [:]
    var specs: [AbsolutePath: FileSpec]
    var clientsOfFile: [AbsolutePath: [ClientName]] = [:]
    var clientsOfAction: [ActionID: [ClientName]] = [:]
    var clientsOfKey: [KeyName: [ClientName]] = [:]
    /// Of two clients that name one action with different timeouts the longer one counts.
    var actions: [ActionID: Action] = [:]
    /// The same actions, and those of `on_state_change` for each state.
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

    /// The clients that share a resource; none where it belongs to one client alone.
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

/// A fault of the daemon as a whole, such as having no place for its socket.
struct DaemonFault: Hashable, Sendable {
    let failure: Failure
    let since: WallTime
    /// When the daemon tries again by itself; nil when it does not.
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
