import AppleClientSecret
import Linux
import Rotation

/// What the daemon asks of a writer: one request, one answer, and the connection is over.
struct WriterRequest: Codable, Sendable {
    /// A writer and a daemon of different versions may meet for as long as the older one still runs.
    static let currentVersion = 1

    enum Task: String, Codable, Sendable {
        // A name in a message between two processes: never rename it.
        case observe = "look"
        /// Find out what would keep the file from being written; nothing is touched.
        case examine
        case publish
    }

    /// One place in the file, whose it is and, to be published, what it is to hold.
    struct Place: Codable, Sendable {
        var variable: String?
        var client: String
        var token: WireToken?
    }

    var version = Self.currentVersion
    var task: Task
    var path: String
    var kind: String
    var mode: UInt16?
    var group: String?
    var places: [Place]
    var mayCreate = false
    /// The tag of the daemon's temporaries (``Linux/TemporaryNames``); nil: nothing is to be touched.
    var tag: String?

    init(_ task: Task, _ spec: FileSpec, secrets: [Slot: Token] = [:]) {
        self.task = task
        path = spec.path.description
        kind = spec.format.name
        mode = spec.mode
        group = spec.group
        places = spec.slots.map { slot, client in
            Place(
                variable: slot.variable, client: client.description, token: secrets[slot].map { WireToken($0) })
        }
    }
}

extension Slot {
    var variable: String? {
        if case .variable(let name) = self { name } else { nil }
    }

    init(variable: String?) {
        self = variable.map { .variable($0) } ?? .whole
    }
}
