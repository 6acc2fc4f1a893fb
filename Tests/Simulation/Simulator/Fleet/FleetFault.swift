/// What happens in a strike of a fleet's fate. Tests/Simulation/README.md has a row for each.
package enum FleetFault: String, CaseIterable, Sendable {
    case kill
    case powerCut
    case breakDisk
    case breakAction
    case loseState
    case damageOutput
    case setClock
    case breakKey
    case renew
    case cutOff
    case emptied
    case replayed
    case forged
    case foreign
    case future
    case junk
    case huge
    case unreadable
    case replaceKey
    case appear
    case vanish
    case loseSigner
    // Around a store.
    case renewEverywhere
    case freeze
    case ambiguousPuts
    case outOfSpace
    case muteWatches
    case restored
    case contested
    case forbidden
    case forgedReports
    // Around a store with rollouts.
    case brokenReloads
    case silence
    case lostStore
    case orders
    case forgedRollouts

    /// How often it strikes, compared with the others: on fleets of each kind.
    private var weights: (files: Int, store: Int, rollouts: Int) {
        switch self {
        case .kill: (6, 4, 4)
        case .renew: (3, 1, 1)
        case .cutOff: (3, 3, 3)
        case .setClock, .replayed: (2, 2, 2)
        case .breakDisk, .damageOutput: (2, 1, 1)
        case .powerCut, .breakAction, .loseState, .breakKey, .emptied, .forged, .foreign, .future, .junk, .huge,
            .replaceKey, .loseSigner:
            (1, 1, 1)
        case .appear, .vanish: (1, 2, 2)
        case .unreadable: (1, 0, 0)
        case .ambiguousPuts: (0, 4, 4)
        case .freeze: (0, 3, 3)
        case .renewEverywhere, .restored: (0, 2, 2)
        case .outOfSpace, .muteWatches, .contested, .forbidden, .forgedReports: (0, 1, 1)
        case .brokenReloads, .orders: (0, 0, 8)
        case .silence, .lostStore, .forgedRollouts: (0, 0, 5)
        }
    }

    /// Every kind of strike on a kind of fleet as often as its weight says.
    static let decks: [FleetKind: [FleetFault]] = [
        .files: deck { $0.weights.files }, .store: deck { $0.weights.store }, .rollouts: deck { $0.weights.rollouts },
    ]

    private static func deck(_ weight: (FleetFault) -> Int) -> [FleetFault] {
        allCases.flatMap { Array(repeating: $0, count: weight($0)) }
    }
}
