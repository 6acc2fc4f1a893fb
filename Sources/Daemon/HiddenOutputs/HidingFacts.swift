import Formats
import Linux
import Systemd

/// A file of the application.
struct ApplicationFile: Hashable, Sendable {
    /// As the application or its unit names it.
    var path: String
    var realPath: String
    /// What the unit calls it, wildcards included; the path where no unit does.
    var pattern: String
    /// Empty where only the places of variables are kept.
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
}

/// What is known of one output.
struct OutputFacts: Sendable {
    let path: String
    let realPath: String
    /// Nil where the whole file is the secret.
    let variable: String?
    /// The real paths of all files in which outputs of the client set the variable, this one among them.
    let copies: Set<String>
    /// The variables of this file that outputs set.
    var variables: Set<String> = []
    /// The environment file itself; nil where it cannot be read.
    var file: ApplicationFile?
    /// Files in the directories where the application may read the output that may hide it.
    var neighbours: [ApplicationFile] = []
    /// When the content was written, in microseconds since 1970.
    var modified: Int64?
    /// Where its file is in our own mount namespace.
    var place: NamespaceMounts.Place?
    /// Whether a program runs after each renewal, also as a unit that is started.
    var runsProgram = false
    /// The unit that is restarted after each renewal; nil where none is.
    var restarted: String?
    /// The mode and group of the settings, and the mode that a write gives the file for the sake of its other lines; nil where
    /// they agree.
    var narrowed: (wanted: UInt16, group: String?, mode: UInt16)?

    /// Whether the environment file holds anything but what outputs set.
    var holdsOthersSettings: Bool {
        file?.assignments.contains { !variables.contains($0.name) } == true
    }

    /// The value of the variable.
    var token: [UInt8]? {
        file?.assignments.last { $0.name == variable }.map(\.value).flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// What is known of one unit of `on_change`.
struct UnitFacts: Sendable {
    let name: String
    let settings: UnitSettings
    /// Those that can be read, in the order in which systemd reads them.
    let environmentFiles: [ApplicationFile]
    let process: MainProcess?

    struct MainProcess: Sendable {
        let id: Int32
        /// In microseconds since 1970.
        let startedAt: Int64
        /// `NAME=value` each; empty where it may not be read.
        var environment: Set<[UInt8]> = []
        /// Paths of outputs at which it sees another file than this process.
        var otherFiles: Set<String> = []
    }
}

/// A mount namespace.
struct NamespaceFacts: Sendable {
    /// A process in it by its number, or `self`.
    let process: String
    /// The name of that process; nil for our own.
    let command: String?
    let mounts: NamespaceMounts
}
