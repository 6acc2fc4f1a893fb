import Formats

/// A file of the application.
struct ApplicationFile: Hashable, Sendable {
    /// As the application or its unit names it.
    let path: String
    let realPath: String
    /// The unit's text for it, wildcards included; the path if it is in no unit.
    let pattern: String
    /// Empty if only the places of variables are kept.
    let bytes: [UInt8]
    let assignments: [FoundAssignment]

    init(path: String, realPath: String? = nil, pattern: String? = nil, bytes: [UInt8]) {
        self.path = path
        self.realPath = realPath ?? path
        self.pattern = pattern ?? path
        self.bytes = bytes
        assignments = FoundAssignment.all(in: bytes)
    }

    /// Keeps only where these variables are set: the last place of each, and the last one without `export`.
    init(path: String, realPath: String, pattern: String, placesOf variables: Set<String>, in bytes: [UInt8]) {
        self.path = path
        self.realPath = realPath
        self.pattern = pattern
        self.bytes = []
        var last: [String: [Bool: FoundAssignment]] = [:]
        for assignment in FoundAssignment.all(in: bytes) where variables.contains(assignment.name) {
            last[assignment.name, default: [:]][assignment.isExported] = assignment.withoutValue
        }
        assignments = last.values.flatMap(\.values).sorted { $0.line < $1.line }
    }

    /// Where systemd's `EnvironmentFile=` finds the variable, the last of the lines; nil if it finds none.
    func place(of variable: String) -> FoundAssignment? {
        assignments.last { $0.name == variable && !$0.isExported }
    }
}
