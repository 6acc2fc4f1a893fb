import Model

/// One configuration follows another.
struct ConfigurationChange {
    let old: Configuration
    let new: Configuration
    /// ``new``, inverted.
    let index: ConfigurationIndex
    /// The first job under the new one.
    let next: JobID
    let now: Now

    /// Whether there is another store than before, or none at all now.
    var isOfStore: Bool { old.store != new.store }
}
