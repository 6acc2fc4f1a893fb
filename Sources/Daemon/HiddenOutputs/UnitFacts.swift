import Systemd

/// What is known of one unit of `on_change`.
struct UnitFacts: Sendable {
    let name: String
    let settings: UnitSettings
    /// Those that can be read, in the order in which systemd reads them.
    let environmentFiles: [ApplicationFile]
    let process: MainProcess?
    /// What its settings call environment files that were outputs once.
    var formerOutputs: Set<String> = []

    struct MainProcess: Sendable {
        let id: Int32
        /// In microseconds since 1970.
        let startedAt: Int64
        /// `NAME=value` each; empty if it may not be read.
        var environment: Set<[UInt8]> = []
        /// Paths of outputs at which it sees another file than this process.
        var otherFiles: Set<String> = []
    }
}
