import Systemd

/// The known facts of one unit that `on_change` names, or that reads an output when it starts.
struct UnitFacts: Sendable {
    let name: String
    let settings: UnitSettings
    /// Those that can be read, in the order in which systemd reads them.
    let environmentFiles: [ApplicationFile]
    let process: MainProcess?
    /// Environment files of its settings that were outputs once.
    var formerOutputs: Set<String> = []

    struct MainProcess: Sendable {
        let id: Int32
        /// In microseconds since 1970.
        let startedAt: Int64
        /// `NAME=value` each; nil if it cannot be read.
        var environment: Set<[UInt8]>?
        /// Paths of outputs at which it sees another file than this process.
        var otherFiles: Set<String> = []
    }
}
