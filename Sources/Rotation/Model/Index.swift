import AppleClientSecret

/// A client with its whole configuration, built once per configuration and shared by every plan.
final class Subject: Sendable {
    let name: ClientName
    /// Its place in the order of the names: comparing these is cheaper than comparing names.
    let order: Int
    let entry: ClientConfiguration
    let key: KeyConfiguration
    /// The keys that may sign for it, in the order of preference; where it mints, ``key`` alone.
    let keys: [Key]
    /// Each once, in order.
    let files: [AbsolutePath]
    /// The same, in the configuration's order.
    let outputs: [AbsolutePath]
    /// The same files with the client's own slots in each: thousands of clients may share one.
    let places: [Place]
    /// The same as its record names them.
    let outputPlaces: Set<OutputPlace>
    /// Each once, in the configuration's order; without those that another client has.
    let targets: [PushOutput]
    /// Each once, in the configuration's order.
    let actions: [ActionID]

    /// A key and its name.
    struct Key: Hashable, Sendable {
        let name: KeyName
        let entry: KeyConfiguration
    }

    /// Where a client's secret stands in a file.
    struct Place: Hashable, Sendable {
        let path: AbsolutePath
        var slots: [Slot] = []
    }

    init(
        name: ClientName, order: Int, entry: ClientConfiguration, key: KeyConfiguration, keys: [Key],
        places: [Place], targets: [PushOutput], actions: [ActionID]
    ) {
        self.targets = targets
        self.name = name
        self.order = order
        self.entry = entry
        self.key = key
        self.keys = keys
        files = places.map(\.path)
        outputs = entry.outputs.map(\.path).reduce(into: []) { paths, path in
            if !paths.contains(path) { paths.append(path) }
        }
        self.places = places
        outputPlaces = entry.places
        self.actions = actions
    }
}

/// Which clients share each key, file and action: the configuration inverted.
///
/// By reference: it never changes, and a plan asks it more often than anything else.
final class Index: Sendable {
    /// In order; stored because sorting ten thousand for every snapshot would take noticeable time.
    let names: [ClientName]
    let subjects: [ClientName: Subject]
    let specs: [AbsolutePath: FileSpec]
    /// Where secrets are published.
    let places: Set<OutputPlace>
    /// Whether there is a store through which secrets are handed on.
    let hasStore: Bool
    private let clientsOfFile: [AbsolutePath: [ClientName]]
    let clientOfTarget: [TargetName: ClientName]
    /// For each target the others that belong into the same document; none for most.
    private let neighboursOfTarget: [TargetName: [TargetName]]
    private let clientsOfAction: [ActionID: [ClientName]]
    /// The targets that actions of kind `redeploy` wait for.
    let targetsOfAction: [ActionID: Set<TargetName>]
    private let clientsOfKey: [KeyName: [ClientName]]
    /// Of two clients that name one action with different timeouts the longer one counts.
    let actions: [ActionID: Action]
    /// The same actions, and those of `on_state_change` for each state.
    let probes: [ActionID: Action]
    /// What can keep `on_state_change` from reporting, in the configuration's order: the runs of each action, and its
    /// probes for each state.
    let stateChangeResources: [Resource]

    init(_ configuration: Configuration) {
        names = configuration.clients.keys.sorted()
        specs = configuration.files
        hasStore = configuration.store != nil
        var subjects = [ClientName: Subject](minimumCapacity: names.count)
        var places = Set<OutputPlace>(minimumCapacity: specs.count)
        var clientsOfFile = [AbsolutePath: [ClientName]](minimumCapacity: specs.count)
        var clientOfTarget: [TargetName: ClientName] = [:]
        var targetsOfDocument: [String: [TargetName]] = [:]
        var clientsOfAction: [ActionID: [ClientName]] = [:]
        var targetsOfAction: [ActionID: Set<TargetName>] = [:]
        var clientsOfKey: [KeyName: [ClientName]] = [:]
        var actions: [ActionID: Action] = [:]
        for (order, name) in names.enumerated() {
            guard let client = configuration.clients[name], let key = configuration.keys[client.key] else { continue }
            let placesInFiles = Self.places(of: client)
            for place in placesInFiles {
                clientsOfFile[place.path, default: []].append(name)
                for slot in place.slots { places.insert(OutputPlace(path: place.path, slot: slot)) }
            }
            var targets: [PushOutput] = []
            for output in client.targets where clientOfTarget[output.target] == nil {
                clientOfTarget[output.target] = name
                targets.append(output)
                if let document = client.documents[output.target] {
                    targetsOfDocument[document, default: []].append(output.target)
                }
            }
            for action in client.onChange {
                if case .redeploy(_, let deployed) = action {
                    targetsOfAction[action.id, default: []].formUnion(deployed)
                }
            }
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
            let keys = client.keys.compactMap { key in
                configuration.keys[key].map { Subject.Key(name: key, entry: $0) }
            }
            for key in keys { clientsOfKey[key.name, default: []].append(name) }
            subjects[name] = Subject(
                name: name, order: order, entry: client, key: key, keys: keys, places: placesInFiles, targets: targets,
                actions: ids)
        }
        var probes = actions
        var stateChangeResources: [Resource] = []
        for action in configuration.onStateChange {
            let runs = action.forEachState
            for run in runs { probes[run.id] = run }
            for resource in [.stateChangeAction(action.id)] + runs.map({ Resource.probe($0.id) })
            where !stateChangeResources.contains(resource) {
                stateChangeResources.append(resource)
            }
        }
        self.subjects = subjects
        self.places = places
        self.clientsOfFile = clientsOfFile
        self.clientOfTarget = clientOfTarget
        neighboursOfTarget = targetsOfDocument.values.filter { $0.count > 1 }.reduce(into: [:]) { all, targets in
            for target in targets { all[target] = targets.filter { $0 != target } }
        }
        self.clientsOfAction = clientsOfAction
        self.targetsOfAction = targetsOfAction
        self.clientsOfKey = clientsOfKey
        self.actions = actions
        self.probes = probes
        self.stateChangeResources = stateChangeResources
    }

    /// The files of a client in order, each once, with its places in each.
    private static func places(of client: ClientConfiguration) -> [Subject.Place] {
        // Nearly all have one output.
        if client.outputs.count == 1 {
            return [Subject.Place(path: client.outputs[0].path, slots: [client.outputs[0].slot])]
        }
        var slots: [AbsolutePath: [Slot]] = [:]
        for output in client.outputs where slots[output.path]?.contains(output.slot) != true {
            slots[output.path, default: []].append(output.slot)
        }
        return slots.sorted { $0.key < $1.key }.map { Subject.Place(path: $0, slots: $1) }
    }

    func files(of client: ClientName) -> [AbsolutePath] { subjects[client]?.files ?? [] }
    func targets(of client: ClientName) -> [PushOutput] { subjects[client]?.targets ?? [] }
    func actions(of client: ClientName) -> [ActionID] { subjects[client]?.actions ?? [] }

    /// The clients that share a resource; none where it belongs to one client alone.
    func clients(of resource: Resource) -> [ClientName] {
        switch resource {
        case .file(let path): clients(of: path)
        case .action(let id), .probe(let id): clients(of: id)
        case .key(let name): clients(of: name)
        case .target(let name): clientOfTarget[name].map { [$0] } ?? []
        case .client, .verification, .record, .source, .share, .rollout, .store, .report, .fleet, .configuration,
            .stateChangeAction, .state:
            []
        }
    }

    /// Whether a resource belongs to the configuration.
    func knows(_ resource: Resource, _ configuration: Configuration) -> Bool {
        switch resource {
        case .configuration, .state: true
        case .store, .report, .fleet: configuration.store != nil
        case .share(let name), .rollout(let name):
            configuration.store != nil && configuration.clients[name]?.isSharing == true
        case .key(let name): configuration.keys[name] != nil
        case .client(let name), .record(let name): configuration.clients[name] != nil
        case .verification(let name): configuration.clients[name].map { $0.source == nil } ?? false
        case .source(let name): configuration.clients[name]?.source != nil
        case .file(let path): specs[path] != nil
        case .target(let name): clientOfTarget[name] != nil
        case .action(let id): actions[id] != nil
        case .probe(let id): probes[id] != nil
        case .stateChangeAction(let id): configuration.onStateChange.contains { $0.id == id }
        }
    }

    func clients(of file: AbsolutePath) -> [ClientName] { clientsOfFile[file] ?? [] }
    func neighbours(of target: TargetName) -> [TargetName] { neighboursOfTarget[target] ?? [] }
    func clients(of action: ActionID) -> [ClientName] { clientsOfAction[action] ?? [] }
    func clients(of key: KeyName) -> [ClientName] { clientsOfKey[key] ?? [] }
}

extension Dictionary {
    /// A table of these keys alone: with what was known of each, and `initial` for one of which nothing was.
    func states<State>(from known: [Key: State], else initial: @autoclosure () -> State) -> [Key: State] {
        // At a start: the same table with other values, without hashing each key again.
        guard !known.isEmpty else { return mapValues { _ in initial() } }
        var all = [Key: State](minimumCapacity: count)
        for key in keys { all[key] = known[key] ?? initial() }
        return all
    }
}
