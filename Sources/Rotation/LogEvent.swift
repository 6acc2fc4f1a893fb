package import AppleClientSecret
package import Model

/// Everything that the daemon logs: a closed list of events, so that no call can log a free string.
package enum LogEvent: Hashable, Sendable {
    /// Something that lasts, such as a failure, is logged again after this long.
    package static let reminder: Seconds = 3600

    case minted(ClientName, SecretInfo, MintReason)
    case tookOver(ClientName, SecretInfo)
    /// A secret was received from the client's source and is current now.
    case received(ClientName, SecretInfo)
    /// Apple accepts a new secret.
    case accepted(ClientName, SecretInfo)
    /// A new secret became the current one although Apple has not accepted it, because the former one can no longer be kept.
    case publishedUnverified(ClientName, SecretInfo)
    case published(AbsolutePath, [ClientName: SecretInfo])
    /// A file was written although another program has had it open for writing for ten minutes.
    case wroteOverWriter(AbsolutePath)
    /// A client's secret was put into a place behind an API. Verified when it was seen there; nil if the API does not show it.
    case pushed(TargetName, ClientName, SecretInfo, verified: Bool?)
    /// A client's secret was put into the store, so that other machines get it.
    case shared(ClientName, SecretInfo)
    case ran(ActionID, [ClientName: SecretInfo])
    /// A permitted request came over the status socket.
    case asked(DaemonRequest, Requester)
    /// The credential socket sent a client's secret to a starting unit.
    case served(ServedCredential, ClientName, SecretInfo)
    /// The credential socket refused a request: for the first time, or again after an hour.
    case notServed(CredentialProblem)
    /// A job failed: for the first time, with another failure than before, or still after an hour.
    case failing(Resource, Failure, failures: Int, retryAt: WallTime?)
    case recovered(Resource, Failure)
    case health(ClientName, HealthState, Reason?)
    case configured(clients: Int)
    case refused([String])
    /// The configuration on disk would be refused; no reload of it was requested.
    case wouldNotStart([String])
    /// The configuration on disk was refused at the start: the last good configuration is used.
    case startedAsBefore([String])
    /// The configuration on disk would no longer be refused.
    case passes
    /// The key file now holds another key under the same key id.
    case keyChanged(KeyName, KeyChange)
    /// The key from before is back.
    case keyRestored(KeyName, KeyChange)
    case clockDistrusted(Failure)
    case clockTrusted
    case ready
    /// A fault of the daemon as a whole was raised: for the first time, or for another reason than before.
    case faultRaised(Failure)
    /// That fault is gone.
    case faultCleared(Failure)
    /// A former output still holds a valid secret.
    case orphaned(OrphanedOutput)
    /// An action of `on_state_change` succeeded.
    case ranStateChangeAction(ActionID)
}

extension Rotation {
    /// The clients that share the resource of a log event; none if it names its clients itself.
    package func clients(of event: LogEvent) -> [ClientName] {
        switch event {
        case .failing(let resource, _, _, _), .recovered(let resource, _): index.clients(of: resource).map(\.name)
        case .keyChanged(let key, _), .keyRestored(let key, _): index.clients(of: .key(key)).map(\.name)
        default: []
        }
    }
}
