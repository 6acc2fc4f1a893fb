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

    /// Whether the daemon had a configuration before.
    var isReload: Bool { !old.clients.isEmpty }

    /// Whether there is another store than before, or no store now.
    var isOfStore: Bool { old.store != new.store }

    /// The places behind APIs that are in both.
    var samePlaces: Set<TargetName> {
        let former = Set(old.clients.values.flatMap(\.targets))
        return Set(new.clients.values.flatMap(\.targets).filter(former.contains).map(\.target))
    }

    /// Whether the read source of a client is still its configured one. Each key has its own place in the store: a secret in
    /// the place of a removed key would count as forged.
    func keepsSource(of client: ConfiguredClient) -> Bool {
        guard let former = old.clients[client.name], former.source == client.entry.source else { return false }
        guard client.entry.source?.isStore == true else { return true }
        return !isOfStore && former.clientID == client.entry.clientID
            && former.keys.map { old.keys[$0] } == client.entry.keys.map { new.keys[$0] }
    }
}
