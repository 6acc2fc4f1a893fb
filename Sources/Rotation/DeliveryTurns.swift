import AppleClientSecret
internal import Failures

/// When the actions of clients that receive their secrets may run: machines that received the same secret at once must not
/// all restart their applications at once.
///
/// - A turn is drawn when a secret is received, evenly from the time that `deliver_over` allows.
/// - An action of several clients runs at the first of their turns, for all of them.
/// - Nobody waits whose delivered secret is missing, expired or critical, or who is asked for by a request to renew.
/// - Turns are not kept over a restart: what was received before READY is delivered at once.
struct DeliveryTurns: Sendable {
    private var turns: [ClientName: BootTime] = [:]

    /// Brings turns forward that are later than the configuration allows now.
    mutating func adopt(_ configuration: Configuration, at now: Now) {
        for (client, turn) in turns {
            turns[client] = configuration.clients[client]?.source.map { min(turn, now.boot + $0.deliverOver) }
        }
    }

    fileprivate mutating func set(_ turn: BootTime?, _ client: ClientName) { turns[client] = turn }

    /// Whether a client's turn has come.
    fileprivate func hasCome(_ client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        turns[client].map { deadlines.reached($0) } ?? true
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        turns.keys.allSatisfy { configuration.clients[$0]?.source != nil } ? [] : ["a turn of one that mints"]
    }
}

extension Rotation {
    // MARK: What happens

    /// Draws when a client's received secret is delivered.
    mutating func drawTurn(of client: Subject, for secret: SecretInfo, at now: Now) {
        let span = client.entry.source?.deliverOver ?? 0
        guard readiness.isReady, span > 0, !answers.isWaiting(for: client.name) else {
            return deliveryTurns.set(nil, client.name)
        }
        var deadlines = Deadlines(now: now)
        // A turn that is still to come is kept: new secrets must not put deliveries off again and again.
        guard deliveryTurns.hasCome(client.name, &deadlines) else { return }
        let share = jobs.draw("turn \(client.name) \(secret.fingerprint)")
        deliveryTurns.set(now.boot + Seconds(Int64(share * Double(span.count))), client.name)
    }

    // MARK: What is wanted

    /// Whether an action waits for its turn with all clients for which it would run.
    func waitsForTurn(
        _ action: ActionID, for clients: some Sequence<ClientName>, _ deadlines: inout Deadlines
    ) -> Bool {
        for client in clients {
            // Whoever asks is given what the source holds then: what came before it was read again is not delivered first.
            if answers.isWaiting(for: client), sources.wasRead(client) { return false }
            if deliveryTurns.hasCome(client, &deadlines) { return false }
        }
        return mayWait(action, for: clients, &deadlines)
    }

    /// Whether nothing is left to be done for a client but to wait for its turn.
    func waitsForTurn(_ client: Subject, _ deadlines: inout Deadlines) -> Bool {
        guard client.entry.source?.deliverOver ?? 0 > 0, isPublished(client.name) else { return false }
        let owed = client.actions.filter { owes(client.name, $0) }
        for action in owed {
            // A deployment waits for no turn.
            guard index.targetsOfAction[action] == nil,
                waitsForTurn(action, for: CollectionOfOne(client.name), &deadlines)
            else { return false }
        }
        return !owed.isEmpty
    }
}
