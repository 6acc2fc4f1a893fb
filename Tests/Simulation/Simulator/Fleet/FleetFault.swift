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

    /// How many of ``total`` strikes are of this kind, on average.
    package var weight: Int {
        switch self {
        case .kill: 6
        case .renew, .cutOff: 3
        case .replayed, .setClock, .breakDisk, .damageOutput: 2
        default: 1
        }
    }

    /// The sum of all weights.
    package static let total = allCases.map(\.weight).reduce(0, +)

    /// Every kind of strike as often as its weight says.
    static let deck = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
}
