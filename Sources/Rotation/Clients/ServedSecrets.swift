import Model

/// The secrets that the credential socket serves.
///
/// - A client's secret is served once the client is settled, as its outputs would hold it: a starting application must
///   not get one that a restart of the daemon would lose. Until then the previous one is served, unless that was minted
///   for ids that are no longer configured.
extension Rotation {
    mutating func planCredential(_ client: ConfiguredClient) {
        guard client.entry.credential != nil else { return }
        let before = clients[client].credential
        let now = isSettled(client) ? wantedSecret(client) : before.flatMap { client.names($0) ? $0 : nil }
        guard now != before else { return }
        clients[client].credential = now
        served.append(ServedSecret(client: client.name, secret: now))
    }
}
