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
    /// The keys that may sign for it, in the order of preference; only ``key`` if it mints.
    let keys: [Key]
    /// Its files in order, each once, with its own slots in each.
    let places: [Place]
    /// The paths of ``places``, which every plan needs.
    let files: [AbsolutePath]
    /// In the configuration's order.
    var targets: [PushOutput] { entry.targets }
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

    /// The place of a client's secret in a file.
    struct Place: Hashable, Sendable {
        let path: AbsolutePath
        let slots: [FileSlot]
    }

    /// - Parameters:
    ///   - keys: that may sign for it.
    ///   - hasStore: whether there is a store.
    init(
        name: ClientName, order: Int, entry: ClientConfiguration, key: KeyConfiguration, keys: [Key], hasStore: Bool
    ) {
        self.name = name
        self.order = order
        self.entry = entry
        self.key = key
        self.keys = keys
        let outputs = Dictionary(grouping: entry.outputs, by: \.path)
        places = outputs.sorted { $0.key < $1.key }.map { Place(path: $0, slots: $1.map(\.slot)) }
        files = places.map(\.path)
        actions = entry.onChange.map(\.id).eachOnce
        isSharing = hasStore && entry.source == nil && entry.isShared
        concernsStore = hasStore && entry.source?.isStore == true || isSharing
    }
}

extension ConfiguredClient: Comparable {
    static func == (left: ConfiguredClient, right: ConfiguredClient) -> Bool { left === right }
    static func < (left: ConfiguredClient, right: ConfiguredClient) -> Bool { left.order < right.order }
}

extension ConfiguredClient {
    /// The ids of these secrets, whatever key has signed them.
    var identity: ClientIdentity { ClientIdentity(team: key.team, client: entry.clientID) }

    /// The paths of its outputs in the configuration's order, each once.
    var outputs: [AbsolutePath] { entry.outputs.map(\.path).eachOnce }
}

extension Array where Element: Equatable {
    /// The elements in this order, without those that came before.
    fileprivate var eachOnce: [Element] {
        reduce(into: []) { once, element in
            if !once.contains(element) { once.append(element) }
        }
    }
}
