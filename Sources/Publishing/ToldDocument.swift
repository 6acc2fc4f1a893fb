internal import AppleClientSecret
internal import Rotation

/// The JSON of what people were told.
struct ToldDocument: Codable {
    private let standing: String
    private let stages: [String: String]
    private let owed: [String]
    private let starts: [String: [Int64]]

    init(_ told: Told) {
        standing = told.standing.rawValue
        stages = told.stages.reduce(into: [:]) { $0[$1.key.description] = $1.value.rawValue }
        owed = told.owed.map(\.description).sorted()
        starts = told.starts.reduce(into: [:]) { $0[$1.key.description] = $1.value.map(\.secondsSinceEpoch) }
    }

    /// Nil when a value is malformed.
    var told: Told? {
        guard let standing = Standing(rawValue: standing) else { return nil }
        var told = Told()
        told.standing = standing
        for (name, stage) in stages {
            guard let name = ClientName(name), let stage = Stage(rawValue: stage) else { return nil }
            told.stages[name] = stage
        }
        told.owed = Set(owed.map { ActionID($0) })
        for (action, moments) in starts {
            told.starts[ActionID(action)] = moments.map { WallTime(secondsSinceEpoch: $0) }
        }
        return told
    }
}
