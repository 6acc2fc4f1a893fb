import AppleClientSecret
import Model

/// Which clients share each key, file, target and action: the configuration inverted.
///
/// By reference, because it never changes and every plan asks it.
final class ConfigurationIndex: Sendable {
    /// In the order of their names.
    let all: [ConfiguredClient]
    let specs: [AbsolutePath: FileSpec]
    /// The places where secrets are published.
    let places: Set<OutputPlace>
    /// Whether there is a store through which secrets are shared.
    let hasStore: Bool
    let clientOfTarget: [TargetName: ConfiguredClient]
    /// The targets that actions of kind `redeploy` wait for.
    let targetsOfAction: [ActionID: Set<TargetName>]
    /// If one action has different timeouts, the longer one counts.
    let actions: [ActionID: Action]
    /// The same actions, and those of `on_state_change` for each state.
    let probes: [ActionID: Action]
    /// The resources that can keep `on_state_change` from reporting, in the configuration's order: the runs of each action, and
    /// its probes for each state.
    let stateChangeResources: [Resource]
    let batches: ClientBatches
    private let subjects: [ClientName: ConfiguredClient]
    /// The clients of each key, file and action.
    private let sharers: [Resource: [ConfiguredClient]]
    /// For each target the other ones of the same document; none for most.
    private let neighboursOfTarget: [TargetName: [TargetName]]

    init(_ configuration: Configuration) {
        let all = Self.clients(of: configuration)
        self.all = all
        subjects = all.reduce(into: [:]) { $0[$1.name] = $1 }
        specs = configuration.files
        places = configuration.places
        hasStore = configuration.store != nil
        let inOneBatch = Self.clients(
            all, by: { $0.files.map(Resource.file) + $0.actions.map(Resource.action) })
        let ofKeys = Self.clients(all, by: { $0.keys.map { Resource.key($0.name) } })
        sharers = inOneBatch.merging(ofKeys) { one, _ in one }
        let clientOfTarget = Self.clients(all, by: { $0.targets.map(\.target) }).compactMapValues(\.first)
        self.clientOfTarget = clientOfTarget
        let documents = Self.documents(of: all)
        neighboursOfTarget = documents.reduce(into: [:]) { neighbours, targets in
            for target in targets { neighbours[target] = targets.filter { $0 != target } }
        }
        let clientsOfDocument = documents.map { targets in targets.compactMap { clientOfTarget[$0] } }
        batches = ClientBatches(all, sharing: Array(inOneBatch.values) + clientsOfDocument)
        actions = Self.actions(of: all)
        targetsOfAction = Self.targetsOfActions(of: all)
        let runs = configuration.onStateChange.map { ($0.id, $0.forEachState) }
        probes = runs.flatMap(\.1).reduce(into: actions) { $0[$1.id] = $1 }
        stateChangeResources = runs.reduce(into: []) { resources, entry in
            for resource in [.stateChangeAction(entry.0)] + entry.1.map({ Resource.probe($0.id) })
            where !resources.contains(resource) {
                resources.append(resource)
            }
        }
    }

    /// Whether secrets are published in a place.
    func isOutput(_ place: OrphanedOutput.Place) -> Bool {
        switch place {
        case .file(let place): places.contains(place)
        case .target(let output): all.contains { $0.targets.contains { $0.place == output.place } }
        }
    }

    private static func clients(of configuration: Configuration) -> [ConfiguredClient] {
        var all: [ConfiguredClient] = []
        for (name, entry) in configuration.clients.sorted(by: { $0.key < $1.key }) {
            guard let key = configuration.keys[entry.key] else { continue }
            let keys = entry.keys.compactMap { name in
                configuration.keys[name].map { ConfiguredClient.Key(name: name, entry: $0) }
            }
            all.append(
                ConfiguredClient(
                    name: name, order: all.count, entry: entry, key: key, keys: keys,
                    hasStore: configuration.store != nil))
        }
        return all
    }

    /// The clients that have each thing, in order.
    private static func clients<Thing: Hashable>(
        _ all: [ConfiguredClient], by things: (ConfiguredClient) -> [Thing]
    ) -> [Thing: [ConfiguredClient]] {
        all.reduce(into: [:]) { clients, client in
            for thing in things(client) { clients[thing, default: []].append(client) }
        }
    }

    /// For each document of several targets, these targets.
    private static func documents(of clients: [ConfiguredClient]) -> [[TargetName]] {
        var targets: [String: [TargetName]] = [:]
        for client in clients {
            for output in client.targets {
                guard let document = client.entry.documents[output.target] else { continue }
                targets[document, default: []].append(output.target)
            }
        }
        return targets.values.filter { $0.count > 1 }
    }

    private static func actions(of clients: [ConfiguredClient]) -> [ActionID: Action] {
        clients.flatMap(\.entry.onChange).reduce(into: [:]) { actions, action in
            if case .exec(_, let timeout) = action, case .exec(_, let known)? = actions[action.id], known >= timeout {
                return
            }
            actions[action.id] = action
        }
    }

    private static func targetsOfActions(of clients: [ConfiguredClient]) -> [ActionID: Set<TargetName>] {
        clients.flatMap(\.entry.onChange).reduce(into: [:]) { targets, action in
            guard case .redeploy(_, let deployed) = action else { return }
            targets[action.id, default: []].formUnion(deployed)
        }
    }

    /// Nil for a client that is not configured.
    subscript(_ client: ClientName) -> ConfiguredClient? { subjects[client] }

    func neighbours(of target: TargetName) -> [TargetName] { neighboursOfTarget[target] ?? [] }

    /// The clients that share a resource; none if it belongs to only one client.
    func clients(of resource: Resource) -> [ConfiguredClient] {
        switch resource {
        case .probe(let id): sharers[.action(id)] ?? []
        case .target(let name): clientOfTarget[name].map { [$0] } ?? []
        default: sharers[resource] ?? []
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
        case .metricsFile(let path): configuration.metricsFile == path
        }
    }
}
