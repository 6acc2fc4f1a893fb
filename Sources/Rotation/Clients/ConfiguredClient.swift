import AppleClientSecret
import Model

/// A client's part of the configuration, built once for each configuration. It also names the client inside the core:
/// ``Clients`` has everything else that is known about it.
final class ConfiguredClient: Sendable {
    let name: ClientName
    /// Its position in the order of the names.
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
    /// Whether its secrets are minted here, and put into the store; false without one.
    let isSharing: Bool
    /// Whether its secrets are received from the store, or put there; false without one.
    let concernsStore: Bool

    /// A key and its name.
    struct Key: Hashable, Sendable {
        let name: KeyName
        let entry: KeyConfiguration
    }

    /// Where in a file a client's secret is.
    struct Place: Hashable, Sendable {
        let path: AbsolutePath
        var slots: [Slot] = []
    }

    init(
        name: ClientName, order: Int, entry: ClientConfiguration, key: KeyConfiguration, keys: [Key],
        places: [Place], targets: [PushOutput], actions: [ActionID], hasStore: Bool
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
        isSharing = hasStore && entry.source == nil && entry.isShared
        concernsStore = hasStore && entry.source?.isStore == true || isSharing
    }
}

extension ConfiguredClient: Comparable {
    static func == (left: ConfiguredClient, right: ConfiguredClient) -> Bool { left === right }
    static func < (left: ConfiguredClient, right: ConfiguredClient) -> Bool { left.order < right.order }
}

extension ConfiguredClient {
    /// Whose secrets these are, whatever key has signed them.
    var identity: ClientIdentity { ClientIdentity(team: key.team, client: entry.clientID) }
}
