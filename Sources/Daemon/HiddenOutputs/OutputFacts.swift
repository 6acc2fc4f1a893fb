import Formats
import Model

/// The known facts of one output.
struct OutputFacts: Sendable {
    let path: String
    let realPath: String
    /// Nil if the whole file is the secret.
    let variable: String?
    /// The real paths of all files in which outputs of the client set the variable, this one among them.
    let copies: Set<String>
    /// The real paths of all files in which outputs set the variable, and of which client; of its own client those of ``copies``.
    var clients: [String: ClientName] = [:]
    /// The variables of this file that outputs set.
    var variables: Set<String> = []
    /// The environment file itself; nil if it cannot be read.
    var file: ApplicationFile?
    /// Files in the directories where the application may read the output that may hide it.
    var neighbours: [ApplicationFile] = []
    /// When the content was written, in microseconds since 1970.
    var modified: Int64?
    /// The place of its file in our own mount namespace.
    var place: NamespaceMounts.Place?
    /// The programs that run after each renewal, by the names of their files, or of the units that are started.
    var programs: [String] = []
    /// The first unit that is started after each renewal; nil if none is.
    var started: String?
    /// The unit that is restarted after each renewal; nil if none is.
    var restarted: String?

    /// The value of the variable.
    var token: [UInt8]? {
        file?.assignments.last { $0.name == variable }.map(\.value).flatMap { $0.isEmpty ? nil : $0 }
    }
}
