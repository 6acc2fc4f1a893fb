import AppleClientSecret
internal import Failures
import Model

/// The secrets that a client's applications got, and the actions that are due.
struct Deliveries: Sendable {
    /// The secret that each action last ran for.
    private(set) var delivered: [ActionID: SecretInfo] = [:]
    private(set) var ranAt: [ActionID: WallTime] = [:]
    /// Actions to run without waiting, because they failed, or because applications may have read other content than the
    /// delivered secret. With the first job whose run counts: one that began earlier may have had that content read.
    private(set) var owed: [ActionID: JobID] = [:]
    /// Why those that failed did, also before the start.
    private(set) var failed: [ActionID: String] = [:]

    /// Adopts a client's record. If the state directory answers late, deliveries since the start are newer.
    mutating func recall(_ record: Record, next: JobID) {
        delivered.merge(record.delivered) { observed, _ in observed }
        for action in record.owed where owed[action] == nil { owed[action] = next }
        failed.merge(record.failed) { observed, _ in observed }
    }

    /// Has an action run again, even for the same secret; only jobs from `next` on count.
    mutating func owe(_ action: ActionID, next: JobID) { owed[action] = next }

    /// Records why an action failed, which is kept for the time after a restart.
    mutating func fail(_ action: ActionID, _ failure: Failure) {
        failed[action] = String(failure.message.prefix(Self.longestMessage))
    }

    private static let longestMessage = 300

    /// Assumes that a secret was delivered, by an unknown action or none.
    mutating func presume(_ secret: SecretInfo) { delivered[.unknown] = secret }

    /// Records that an action ran.
    ///
    /// - Parameter actions: the client's own. Deliveries by others are forgotten once each of its own has delivered.
    mutating func ran(_ action: ActionID, _ secret: SecretInfo, by job: JobID, own actions: [ActionID], at now: Now) {
        delivered[action] = secret
        ranAt[action] = now.wall
        failed[action] = nil
        if let since = owed[action], job >= since { owed[action] = nil }
        if !actions.isEmpty, delivered.count > actions.count, actions.allSatisfy({ delivered[$0] != nil }) {
            delivered = delivered.filter { actions.contains($0.key) }
        }
    }
}

/// Why actions run again for a secret, without waiting.
enum RepeatCause {
    /// The secret was written to a file that did not hold it: a reload added or moved an output, or a directory appeared
    /// late.
    case cameToFile(SecretInfo)
    /// The secret was pushed to a target that did not hold it.
    case cameToTarget(SecretInfo)
    /// A file that was read for the first time lacked the secret, so that applications may have read the given one while no
    /// daemon ran. Nil: something else or nothing.
    case foundInFile(SecretInfo?)
    /// Other content was in a file, which is repaired, long enough for applications to read it.
    case wasInFile
    /// Another secret was at a target, which is repaired.
    case wasAtTarget
    /// This action failed or was cut off. Its turn has passed and the application may be down. So it does not wait for another
    /// turn after a restart or for a newer secret, or for a rollout that no longer admits this machine.
    case runFailed(ActionID)
}

/// - An action runs again for the same secret if it failed, or if an application may have read other content. It also runs
///   again if an application has yet to read the secret at another place (``RepeatCause``). A run that began earlier does not
///   count for that.
/// - Only a secret in all outputs of its client is delivered, apart from targets whose push fails.
extension Rotation {
    // MARK: State

    /// For a client without a record, because it was renamed or the state directory was lost: assumes that its
    /// applications were given the secret in its outputs that expires first. No action waits because of that
    /// (``knowsHolding(of:of:)``).
    mutating func presumeDelivered(_ client: ConfiguredClient) {
        let known = clients[client]
        guard !known.secret.hasChosen, !client.actions.isEmpty, known.record.value == Record(),
            known.deliveries.delivered.isEmpty
        else { return }
        let found = observedSlots(of: client).compactMap(\.held.issued).filter {
            client.entry.clientID.accepts($0.client)
        }
        if let oldest = found.firstToExpire { clients[client].deliveries.presume(oldest) }
    }

    /// Runs those of a client's actions again that the cause concerns. A run that began before does not count.
    mutating func repeatActions(of client: ConfiguredClient, because cause: RepeatCause, at now: Now) {
        for action in client.actions where isRepeated(action, of: client, because: cause, at: now) {
            clients[client].deliveries.owe(action, next: jobs.next)
        }
    }

    /// For a client without actions: records that a secret in all of its files is delivered, because its applications read them
    /// by themselves. Done only for a file that another user's writer reads, which a start may be unable to read.
    mutating func noteDelivered(_ client: ConfiguredClient) {
        guard client.actions.isEmpty, client.files.contains(where: { index.specs[$0]?.owner != nil }),
            let wanted = wantedSecret(client), isInPlace(client)
        else { return }
        clients[client].deliveries.presume(wanted)
    }

    private func isRepeated(
        _ action: ActionID, of client: ConfiguredClient, because cause: RepeatCause, at now: Now
    ) -> Bool {
        switch cause {
        // At a start the applications have not begun.
        case .cameToFile(let secret): isReady && delivers(action, secret, to: client)
        case .cameToTarget(let secret): delivers(action, secret, to: client)
        // No deployment reads a file.
        case .foundInFile(let held):
            held.map { isMerelyEarlier($0, client, at: now) } != true && index.actions[action]?.isRedeployment != true
        case .wasInFile: index.actions[action]?.isRedeployment != true
        case .wasAtTarget: true
        case .runFailed(let failed): action == failed
        }
    }

    /// Whether an action is running for a secret, or has last run for it.
    private func delivers(_ action: ActionID, _ secret: SecretInfo, to client: ConfiguredClient) -> Bool {
        if case .run(_, let covering)? = jobs[.action(action)]?.work, let covered = covering[client.name] {
            return covered.issued.isSame(as: secret)
        }
        return hasDelivered(action, secret, to: client)
    }

    private func hasDelivered(_ action: ActionID, _ secret: SecretInfo, to client: ConfiguredClient) -> Bool {
        clients[client].deliveries.delivered[action]?.isSame(as: secret) == true
    }

    /// Whether applications with this secret can use it until each of their actions runs for the wanted one. The daemon died
    /// before it wrote that one.
    private func isMerelyEarlier(_ secret: SecretInfo, _ client: ConfiguredClient, at now: Now) -> Bool {
        guard let wanted = wantedSecret(client) else { return false }
        return WakeTimer.peek(at: now) { fits(secret, client, &$0) }
            && client.actions.allSatisfy { !hasDelivered($0, wanted, to: client) }
    }

    /// Whether an action that makes a client's applications read its files is running.
    func isDelivering(_ client: ConfiguredClient) -> Bool { client.actions.contains { jobs[.action($0)] != nil } }

    // MARK: Plan

    /// The secrets of which applications notified by an action hold one, as far as is known; empty when they hold none.
    func secretsInUse(by action: ActionID, of client: ConfiguredClient) -> [SecretInfo] {
        clients[client].deliveries.delivered.inUse(by: action, of: client.actions)
    }

    /// Of the secrets last given to a client's applications, the one that expires first; nil if none is known.
    func lastDelivered(to client: ConfiguredClient) -> SecretInfo? {
        clients[client].deliveries.delivered.values.firstToExpire
    }

    /// The secrets of which applications keep using one while an action waits, as delivered by it or by the client's other
    /// actions. An action that a reload added waits too: it would otherwise spread a secret that a rollout holds back.
    func secretsInUseMeanwhile(by action: ActionID, of client: ConfiguredClient) -> [SecretInfo] {
        let own = secretsInUse(by: action, of: client)
        return own.isEmpty ? Array(clients[client].deliveries.delivered.values) : own
    }

    /// Whether it is known what applications notified by an action hold.
    func knowsHolding(of action: ActionID, of client: ConfiguredClient) -> Bool {
        clients[client].deliveries.delivered.tellsHolding(of: action)
    }

    /// Whether an action has yet to run for a client's secret.
    func owes(_ client: ConfiguredClient, _ action: ActionID) -> Bool {
        guard let current = clients[client].secret.current else { return false }
        return clients[client].deliveries.delivered[action]?.isSame(as: current) != true
            || clients[client].deliveries.owed[action] != nil
    }

    /// The actions that have yet to run for a client's secret.
    func owedActions(of client: ConfiguredClient) -> [ActionID] { client.actions.filter { owes(client, $0) } }

    /// Whether a client is settled, all its files hold its secret, and no target is to be waited for.
    func isPublished(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard isSettled(client), isInPlace(client) else { return false }
        return client.targets.isEmpty
            || wantedSecret(client).map { mayDeliver(past: client.targets, $0, at: now) } == true
    }
}

extension [ActionID: SecretInfo] {
    /// The secrets of which applications notified by an action use one: the one that it last ran for. Before its first run, those
    /// delivered by actions that are no longer the client's, because an edited action notifies the same application.
    ///
    /// - Parameter actions: the client's.
    func inUse(by action: ActionID, of actions: [ActionID]) -> [SecretInfo] {
        if let own = self[action] { return [own] }
        return Array(filter { !actions.contains($0.key) }.values)
    }

    /// Whether it is known what applications notified by an action hold. Not if nothing was ever delivered. Also not if a secret
    /// was only assumed to be delivered: it may have come to its output while the action waited, so they may hold an older one.
    func tellsHolding(of action: ActionID) -> Bool {
        self[action] != nil || self[.unknown] == nil && !isEmpty
    }

    /// When the first of the secrets expires that applications use by these actions, which are all of the client's. Nil if one of
    /// the actions never ran.
    func firstExpiry(of actions: [ActionID]) -> WallTime? {
        actions.map { inUse(by: $0, of: actions).firstToExpire?.expiresAt }.firstIfAllAreKnown
    }
}

extension [WallTime?] {
    /// The first of these times; nil if one of them is not known.
    var firstIfAllAreKnown: WallTime? { contains(nil) ? nil : compactMap(\.self).min() }
}
