package import AppleClientSecret

/// What is worth a line in the journal: the closed list of events, so that no call can log a free string.
package enum LogEvent: Hashable, Sendable {
    case minted(ClientName, SecretInfo, MintReason)
    case tookOver(ClientName, SecretInfo)
    case published(AbsolutePath, [ClientName: SecretInfo])
    case ran(ActionID, [ClientName: SecretInfo])
    /// Somebody asked over the status socket, and may.
    case asked(Request, Requester)
    /// The credential socket gave a client's secret to a unit that starts.
    case served(ServedCredential, ClientName, SecretInfo)
    /// The credential socket refused: now for the first time, or still after an hour.
    case notServed(CredentialRefusal)
    /// Something fails: now for the first time, in another way than before, or still after an hour.
    case failing(Resource, Failure, failures: Int, retryAt: WallTime?)
    case recovered(Resource, Failure)
    case health(ClientName, HealthState, Reason?)
    case configured(clients: Int)
    case refused([String])
    /// What lies there now would be refused; nobody has asked for it to be adopted.
    case wouldNotStart([String])
    /// What lay there at the start would be refused: the configuration that was last adopted is in force.
    case startedAsBefore([String])
    /// What lies there now would not be refused any more.
    case passes
    /// Another key than before stands behind one key id.
    case keyChanged(KeyName, KeyChange)
    /// The one before is back.
    case keyRestored(KeyName, KeyChange)
    case clockDistrusted(Failure)
    case clockTrusted
    case ready
    /// The daemon as a whole lacks something: now for the first time, or for another reason than before.
    case faultRaised(Failure)
    /// What it lacked is there.
    case faultCleared(Failure)
    /// What is no output any more holds a secret that is valid.
    case orphaned(OrphanedOutput)
    /// An action of `on_state_change` was done.
    case told(ActionID)
}

/// Why a secret is minted.
package enum MintReason: Hashable, Sendable {
    /// No usable secret is to be found.
    case missing
    /// The one that was found does not fit the key, the ids or the times any more.
    case unusable(SecretInfo)
    case due(SecretInfo)
    /// Not due yet, but it shares a file or an action with one that is.
    case together(SecretInfo)
    case asked
}

extension Rotation {
    /// The clients that share the resource which an entry speaks of; none where it names its clients itself.
    package func clients(of entry: LogEvent) -> [ClientName] {
        switch entry {
        case .failing(let resource, _, _, _), .recovered(let resource, _): world.index.clients(of: resource)
        case .keyChanged(let key, _), .keyRestored(let key, _): world.index.clients(of: key)
        default: []
        }
    }
}
