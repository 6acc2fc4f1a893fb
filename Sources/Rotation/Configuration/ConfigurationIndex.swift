import AppleClientSecret
import Model

/// Which clients share each key, file, target and action: the configuration inverted.
///
/// By reference, because it never changes and every plan asks it.
final class ConfigurationIndex: Sendable {
    /// In the order of their names.
    let all: [ConfiguredClient]
    let specs: [AbsolutePath: FileSpec]
    /// Where secrets are published.
    let places: Set<OutputPlace>
    /// Whether there is a store through which secrets are shared.
    let hasStore: Bool
    let clientOfTarget: [TargetName: ConfiguredClient]
    /// The targets that actions of kind `redeploy` wait for.
    let targetsOfAction: [ActionID: Set<TargetName>]
    /// If two clients name one action with different timeouts, the longer one counts.
    let actions: [ActionID: Action]
    /// The same actions, and those of `on_state_change` for each state.
    let probes: [ActionID: Action]
    /// What can keep `on_state_change` from reporting, in the configuration's order: the runs of each action, and its
    /// probes for each state.
    let stateChangeResources: [Resource]
    let batches: ClientBatches
    private let subjects: [ClientName: ConfiguredClient]
    private let clientsOfFile: [AbsolutePath: [ConfiguredClient]]
    /// For each target the others that belong into the same document; none for most.
    private let neighboursOfTarget: [TargetName: [TargetName]]
    private let clientsOfAction: [ActionID: [ConfiguredClient]]
    private let clientsOfKey: [KeyName: [ConfiguredClient]]

    init(_ configuration: Configuration) {
        let names = configuration.clients.keys.sorted()
        specs = configuration.files
        hasStore = configuration.store != nil
        var subjects = [ClientName: ConfiguredClient](minimumCapacity: names.count)
        var places = Set<OutputPlace>(minimumCapacity: specs.count)
        var clientsOfFile = [AbsolutePath: [ConfiguredClient]](minimumCapacity: specs.count)
        var clientOfTarget: [TargetName: ConfiguredClient] = [:]
        var targetsOfDocument: [String: [TargetName]] = [:]
        var clientsOfAction: [ActionID: [ConfiguredClient]] = [:]
        var targetsOfAction: [ActionID: Set<TargetName>] = [:]
        var clientsOfKey: [KeyName: [ConfiguredClient]] = [:]
        var actions: [ActionID: Action] = [:]
        var all: [ConfiguredClient] = []
        for name in names {
            guard let client = configuration.clients[name], let key = configuration.keys[client.key] else { continue }
            var targets: [PushOutput] = []
            for output in client.targets
            where clientOfTarget[output.target] == nil && !targets.contains(where: { $0.target == output.target }) {
                targets.append(output)
                if let document = client.documents[output.target] {
                    targetsOfDocument[document, default: []].append(output.target)
                }
            }
            var ids: [ActionID] = []
            for action in client.onChange {
                if case .redeploy(_, let deployed) = action {
                    targetsOfAction[action.id, default: []].formUnion(deployed)
                }
                guard !ids.contains(action.id) else { continue }
                ids.append(action.id)
                if case .exec(_, let timeout) = action, case .exec(_, let known)? = actions[action.id], known >= timeout
                {
                    continue
                }
                actions[action.id] = action
            }
            let subject = ConfiguredClient(
                name: name, order: all.count, entry: client, key: key,
                keys: client.keys.compactMap { key in
                    configuration.keys[key].map { ConfiguredClient.Key(name: key, entry: $0) }
                },
                places: Self.places(of: client), targets: targets, actions: ids, hasStore: hasStore)
            all.append(subject)
            subjects[name] = subject
            for place in subject.places {
                clientsOfFile[place.path, default: []].append(subject)
                for slot in place.slots { places.insert(OutputPlace(path: place.path, slot: slot)) }
            }
            for output in targets { clientOfTarget[output.target] = subject }
            for id in ids { clientsOfAction[id, default: []].append(subject) }
            for key in subject.keys { clientsOfKey[key.name, default: []].append(subject) }
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
        self.all = all
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
        let clientsOfDocument = targetsOfDocument.values.map { targets in targets.compactMap { clientOfTarget[$0] } }
        batches = ClientBatches(
            all, sharing: Array(clientsOfFile.values) + Array(clientsOfAction.values) + clientsOfDocument)
        self.actions = actions
        self.probes = probes
        self.stateChangeResources = stateChangeResources
    }

    /// The files of a client in order, each once, with its slots in each.
    private static func places(of client: ClientConfiguration) -> [ConfiguredClient.Place] {
        var slots: [AbsolutePath: [Slot]] = [:]
        for output in client.outputs where slots[output.path]?.contains(output.slot) != true {
            slots[output.path, default: []].append(output.slot)
        }
        return slots.sorted { $0.key < $1.key }.map { ConfiguredClient.Place(path: $0, slots: $1) }
    }

    /// Nil for a client that is not configured.
    subscript(_ client: ClientName) -> ConfiguredClient? { subjects[client] }

    func clients(of file: AbsolutePath) -> [ConfiguredClient] { clientsOfFile[file] ?? [] }
    func clients(of action: ActionID) -> [ConfiguredClient] { clientsOfAction[action] ?? [] }
    func clients(of key: KeyName) -> [ConfiguredClient] { clientsOfKey[key] ?? [] }
    func neighbours(of target: TargetName) -> [TargetName] { neighboursOfTarget[target] ?? [] }

    /// The clients that share a resource; none where it belongs to one client alone.
    func clients(of resource: Resource) -> [ConfiguredClient] {
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
        case .store, .report, .fleet: hasStore
        case .share(let name), .rollout(let name): subjects[name]?.isSharing == true
        case .key(let name): configuration.keys[name] != nil
        case .client(let name), .record(let name): subjects[name] != nil
        case .verification(let name): subjects[name].map { $0.entry.source == nil } ?? false
        case .source(let name): subjects[name]?.entry.source != nil
        case .file(let path): specs[path] != nil
        case .target(let name): clientOfTarget[name] != nil
        case .action(let id): actions[id] != nil
        case .probe(let id): probes[id] != nil
        case .stateChangeAction(let id): configuration.onStateChange.contains { $0.id == id }
        }
    }
}
