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
    var readiness = Readiness()
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
    /// The secret that the credential socket serves.
    var credential: SecretInfo?
    var health = ClientHealth()

    func checkInvariants(next: JobID) -> [String] {
        secret.checkInvariants() + record.checkInvariants(next: next)
            + (source?.checkInvariants(next: next) ?? []) + (verification?.checkInvariants() ?? [])
            + deliveries.checkInvariants(next: next)
            + (rollout?.checkInvariants() ?? []) + health.checkInvariants()
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

    func checkInvariants(next: JobID) -> [String] {
        all.flatMap { client in client.checkInvariants(next: next).map { "\(client.subject.name): \($0)" } }
    }
}
