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

    /// How many of ``total(in:)`` strikes on such a fleet are of this kind, on average.
    package func weight(in kind: FleetKind) -> Int {
        switch (kind, self) {
        case (.files, .brokenReloads), (.files, .silence), (.files, .lostStore), (.files, .orders),
            (.files, .forgedRollouts),
            (.store, .brokenReloads), (.store, .silence), (.store, .lostStore), (.store, .orders),
            (.store, .forgedRollouts):
            0
        case (.rollouts, .brokenReloads), (.rollouts, .orders): 8
        case (.rollouts, .silence), (.rollouts, .lostStore), (.rollouts, .forgedRollouts): 5
        case (.rollouts, _): weight(in: .store)
        case (.store, .unreadable): 0
        case (.files, .kill): 6
        case (.store, .kill), (.store, .ambiguousPuts): 4
        case (.files, .renew), (_, .cutOff), (.store, .freeze): 3
        case (.store, .breakDisk), (.store, .damageOutput), (.store, .renew): 1
        case (_, .replayed), (_, .setClock), (.files, .breakDisk), (.files, .damageOutput): 2
        case (.store, .restored), (.store, .renewEverywhere), (.store, .appear), (.store, .vanish): 2
        case (.files, .renewEverywhere), (.files, .freeze), (.files, .ambiguousPuts), (.files, .outOfSpace),
            (.files, .muteWatches), (.files, .restored), (.files, .contested), (.files, .forbidden),
            (.files, .forgedReports):
            0
        default: 1
        }
    }

    /// The sum of all weights.
    package static func total(in kind: FleetKind) -> Int { allCases.map { $0.weight(in: kind) }.reduce(0, +) }

    /// Every kind of strike as often as its weight says.
    static let decks: [FleetKind: [FleetFault]] = Dictionary(
        uniqueKeysWithValues: FleetKind.allCases.map { kind in
            (kind, allCases.flatMap { Array(repeating: $0, count: $0.weight(in: kind)) })
        })
}
