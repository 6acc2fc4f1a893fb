import AppleClientSecret
import Model

/// Everything known about one client, in one value.
///
/// ``subject`` is the client's part of the configuration. A secret passes these steps, each of which `Rotation` checks:
///
/// - known (`isKnown`): the key, the record and the files were read, so that something can be decided;
/// - settled (`isSettled`): the secret is chosen and its record kept;
/// - published (`isPublished`): all files hold it, and no target has to be waited for;
/// - delivered (`owes` is false for each action): all actions have run for it.
struct Client: Sendable {
    /// Its part of the configuration.
    let subject: ConfiguredClient
    var secret = CurrentSecret()
    /// Its record in the state directory.
    var record = Persisted(Record())
    /// Whether it was tried as far as possible since the start or the last reload: its secret is published and kept, or a known
    /// failure prevents it.
    var wasTried = false
    /// Whether a reload added it: a record that it has is from before it was removed.
    var isAdded = false
    /// Nil if its secrets are minted.
    var source: SecretSource?
    /// Of its newest secret; nil if Apple is not asked about it.
    var verification: Verification?
    var deliveries = Deliveries()
    /// When received secrets may be delivered; nil if none was drawn.
    var turn: DeliveryTurn?
    /// Its puts into the store; nil before the first one.
    var share: StorePuts?
    /// Nil if this machine rolls out no secret of it.
    var rollout: RolloutProgress?
    /// A user's order to a rollout that the store does not have yet; nil for none.
    var rolloutOrder: PendingRolloutOrder?
    /// The secret that the credential socket serves.
    var credential: SecretInfo?
    var health = ClientHealth()
}

extension Client {
    /// A client under a new configuration. It keeps its known state, except where the configuration invalidates it.
    ///
    /// - Parameter former: the client of this name under the configuration before; nil for a new one.
    init(_ subject: ConfiguredClient, _ former: Client?, _ change: ConfigurationChange) {
        let entry = subject.entry
        self.subject = subject
        isAdded = former?.isAdded ?? change.isReload
        if let former {
            secret = former.secret
            record = former.record
            deliveries = former.deliveries
            health = former.health
        }
        if let source = entry.source {
            self.source = SecretSource(change.keepsSource(of: subject) ? former?.source : nil, next: change.next)
            turn = former?.turn?.within(source.deliverOver, at: change.now)
            // A request to mint is not carried out later, once the client mints again.
            secret.withdrawRequest()
            // A received secret was accepted where it was minted, so it has no verification.
        } else {
            verification = former?.verification
            if !entry.verify, verification?.candidate == nil { verification = nil }
        }
        if subject.isSharing, !change.isOfStore {
            share = former?.share
            rollout = former?.rollout
            if entry.rollout != nil { rolloutOrder = former?.rolloutOrder }
        }
        if entry.credential != nil { credential = former?.credential }
    }
}

/// All clients of the current configuration, in the order of their names.
struct Clients: Sendable {
    private(set) var all: [Client] = []

    subscript(_ subject: ConfiguredClient) -> Client {
        _read { yield all[subject.order] }
        _modify { yield &all[subject.order] }
    }

    /// Brings over the state of the remaining clients. Only here are clients matched by name.
    mutating func adopt(_ change: ConfigurationChange) {
        let former = all.reduce(into: [:]) { $0[$1.subject.name] = $1 }
        all = change.index.all.map { Client($0, former[$0.name], change) }
    }

    func checkInvariants() -> [String] {
        all.flatMap { client in client.health.checkInvariants().map { "\(client.subject.name): \($0)" } }
    }
}
