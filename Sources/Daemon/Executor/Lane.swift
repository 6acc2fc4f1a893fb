import Model

/// A queue of jobs: one that does not respond delays only its own lane.
enum Lane: Hashable, Sendable {
    case settings
    /// A key and its passphrase, on any mount.
    case key(KeyName)
    case state
    case signing
    /// The mount that a file is on.
    case mount(String)
    /// The writer for a user.
    case writer(String)
    /// Requests to Apple.
    case verification
    /// Reads of secrets in the store, which wait for no put.
    case storeReading
    /// Other requests to the store.
    case store
    /// One for each place behind an API, whose answer may take a minute.
    case push(TargetName)
    /// One for each hook, because hooks may take long.
    case hook(ActionID)
    /// Probes of actions; one lane, so that not a hundred threads at once ask systemd and polkit.
    case probes
}
