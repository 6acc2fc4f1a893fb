/// The secrets that the credential socket serves.
///
/// - A client's secret is served once the client is settled, as its outputs would hold it: a starting application must
///   not get one that a restart of the daemon would lose. Until then the previous one is served, unless that was made
///   for ids that are no longer configured.
struct Credentials: Sendable {
    private var secrets: [ClientName: SecretInfo] = [:]
    /// What the current plan has changed.
    private var changed: [Served] = []

    var allSecrets: some Sequence<SecretInfo> { secrets.values }

    mutating func adopt(_ configuration: Configuration) {
        secrets = secrets.filter { configuration.clients[$0.key]?.credential != nil }
    }

    /// Sets what is served for a client that has a credential.
    ///
    /// - Parameter wanted: the secret to serve; only for a settled client.
    mutating func plan(_ client: Subject, settled: Bool, wanted: SecretInfo?) {
        let before = secrets[client.name]
        let isStill = before.map(client.names) ?? false
        let now = settled ? wanted : isStill ? before : nil
        guard now != before else { return }
        secrets[client.name] = now
        changed.append(Served(client: client.name, secret: now))
    }

    /// What has changed since this was last called.
    mutating func takeChanged() -> [Served] {
        defer { changed = [] }
        return changed
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        secrets.keys.allSatisfy { configuration.clients[$0]?.credential != nil } ? [] : ["a credential of nobody"]
    }
}

extension Rotation {
    mutating func planCredential(_ client: Subject) {
        guard client.entry.credential != nil else { return }
        credentials.plan(
            client, settled: records.isSettled(client.name), wanted: wantedSecret(client))
    }
}
