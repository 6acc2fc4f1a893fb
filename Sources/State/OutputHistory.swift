internal import Model

/// The outputs in all records, of any client. A client may have been renamed, or have got another's output, while no daemon ran.
struct OutputHistory: Sendable {
    /// Environment files that held other lines.
    private var shared: Set<AbsolutePath> = []
    /// The places in which a secret was published.
    private var outputs: Set<OutputPlace> = []

    mutating func add(_ record: Record) {
        shared.formUnion(record.shared)
        outputs.formUnion(record.outputs)
    }

    /// A client's record, with facts about those of its outputs that it does not name itself.
    ///
    /// - Parameter history: asked only if there are such outputs.
    static func complete(
        _ own: RecordWithSecrets?, at places: Set<OutputPlace>, from history: () -> OutputHistory
    ) -> RecordWithSecrets? {
        let unnamed = places.subtracting(own?.record.outputs ?? [])
        guard !unnamed.isEmpty else { return own }
        let known = history()
        let shared = known.shared.intersection(unnamed.map(\.path))
        let outputs = known.outputs.intersection(unnamed)
        guard !shared.isEmpty || !outputs.isEmpty else { return own }
        let base = own ?? RecordWithSecrets()
        var record = base.record
        record.shared.formUnion(shared)
        record.outputs.formUnion(outputs)
        return RecordWithSecrets(record, current: base.current, candidate: base.candidate)
    }
}
