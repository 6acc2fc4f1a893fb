internal import AppleClientSecret
internal import Model

/// The JSON of what was reported to operators. Its names stand in files of earlier versions: never rename one.
enum ReportedStatesDocument {
    /// The JSON by which it is read again.
    static func json(of states: ReportedStates) -> JSONText {
        let stages = states.stages.sorted { $0.key < $1.key }
        let starts = states.starts.sorted { $0.key < $1.key }
        return .object([
            ("owed", .array(states.owed.sorted().map { .string($0.description) })),
            ("stages", .object(stages.map { ($0.key.description, .string($0.value.rawValue)) })),
            ("health", .string(states.health.rawValue)),
            (
                "starts",
                .object(
                    starts.map { action, moments in
                        (action.description, .array(moments.map { .number(Int($0.secondsSinceEpoch)) }))
                    })
            ),
        ])
    }

    /// The states that a document holds; throws when a value is missing or malformed.
    static func states(in document: JSONValue) throws(Malformed) -> ReportedStates {
        guard case .object(let stages)? = document["stages"], case .object(let starts)? = document["starts"] else {
            throw Malformed()
        }
        var states = ReportedStates()
        states.health = try Malformed.unless(HealthState(rawValue: try document.string("health")))
        for (name, stage) in stages {
            let name = try Malformed.unless(ClientName(name))
            states.stages[name] = try Malformed.unless(stage.text.flatMap(Stage.init))
        }
        states.owed = Set(try document.strings("owed").map { ActionID($0) })
        for (action, moments) in starts {
            states.starts[ActionID(action)] = try Malformed.unless(moments.elements).map {
                moment throws(Malformed) in WallTime(secondsSinceEpoch: try Malformed.unless(moment.whole))
            }
        }
        return states
    }
}
