internal import AppleClientSecret
internal import Rotation

/// The JSON of what was reported to operators.
struct ReportedStatesDocument: Decodable {
    private let health: String
    private let stages: [String: String]
    private let owed: [String]
    private let starts: [String: [Int64]]

    /// Names in a file that earlier versions wrote: never rename one.
    private enum CodingKeys: String, CodingKey {
        case health = "standing"
        case stages, owed, starts
    }

    /// The JSON by which it is read again.
    static func json(of states: ReportedStates) -> JSONText {
        let stages = states.stages.sorted { $0.key < $1.key }
        let starts = states.starts.sorted { $0.key < $1.key }
        return .object([
            ("owed", .array(states.owed.sorted().map { .string($0.description) })),
            ("stages", .object(stages.map { ($0.key.description, .string($0.value.rawValue)) })),
            ("standing", .string(states.health.rawValue)),
            (
                "starts",
                .object(
                    starts.map { action, moments in
                        (action.description, .array(moments.map { .number(Int($0.secondsSinceEpoch)) }))
                    })
            ),
        ])
    }

    /// Nil when a value is malformed.
    var states: ReportedStates? {
        guard let health = HealthState(rawValue: health) else { return nil }
        var states = ReportedStates()
        states.health = health
        for (name, stage) in stages {
            guard let name = ClientName(name), let stage = Stage(rawValue: stage) else { return nil }
            states.stages[name] = stage
        }
        states.owed = Set(owed.map { ActionID($0) })
        for (action, moments) in starts {
            states.starts[ActionID(action)] = moments.map { WallTime(secondsSinceEpoch: $0) }
        }
        return states
    }
}
