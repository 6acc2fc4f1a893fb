import AppleClientSecret
internal import Failures

/// When the actions of clients that receive their secrets may run: machines that received the same secret at once must not
/// all restart their applications at once.
///
/// - A turn is drawn when a secret is received, evenly from the time that `deliver_over` allows: with a store by this
///   machine's ``Rank``, in which rollouts admit machines too.
/// - An action of several clients runs at the first of their turns, for all of them, once ``Admissions`` allow it for one.
/// - Nobody waits whose delivered secret is missing, expired or critical, or who is asked for by a request to renew.
/// - Turns are not kept over a restart: what was received before READY waits for no turn.
struct DeliveryTurns: Sendable {
    private var turns: [ClientName: BootTime] = [:]
    /// Actions that nothing but a turn or an admission keeps from running, as last planned.
    private var waiting: Set<ActionID> = []

    /// Brings turns forward that are later than the configuration allows now.
    mutating func adopt(_ configuration: Configuration, at now: Now) {
        for (client, turn) in turns {
            turns[client] = configuration.clients[client]?.source.map { min(turn, now.boot + $0.deliverOver) }
        }
        waiting = []
    }

    fileprivate mutating func set(_ turn: BootTime?, _ client: ClientName) { turns[client] = turn }

    /// Returns whether that is new.
    fileprivate mutating func note(_ action: ActionID, isWaiting: Bool) -> Bool {
        isWaiting ? waiting.insert(action).inserted : waiting.remove(action) != nil
    }

    /// Whether nothing but a turn or an admission keeps an action from running.
    func isWaiting(_ action: ActionID) -> Bool { waiting.contains(action) }

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
        // Without a store nobody says what this machine is called.
        let wait =
            configuration.store.map { Rank.part(Rank.of($0.machine, secret.fingerprint), of: span) }
            ?? Seconds(Int64(jobs.draw("turn \(client.name) \(secret.fingerprint)") * Double(span.count)))
        deliveryTurns.set(now.boot + wait, client.name)
    }

    // MARK: What is wanted

    /// Whether an action waits for its turn, or until it is admitted, with all clients for which it would run.
    func waitsForTurn(
        _ action: ActionID, for clients: some Sequence<ClientName>, _ deadlines: inout Deadlines
    ) -> Bool {
        var hasCome = false
        var isAdmitted = false
        for client in clients {
            // Whoever asks is given what the source holds then: what came before it was read again is not delivered first.
            if answers.isWaiting(for: client), sources.wasRead(client) { return false }
            if !hasCome { hasCome = isCalled(client) || deliveryTurns.hasCome(client, &deadlines) }
            if !isAdmitted { isAdmitted = self.isAdmitted(client, action, &deadlines) }
        }
        if hasCome, isAdmitted { return false }
        return mayWait(action, for: clients, &deadlines)
    }

    /// Notes whether nothing but its turn, or that it is admitted, keeps an action from running.
    mutating func noteTurn(of action: ActionID, isAwaited: Bool) {
        guard deliveryTurns.note(action, isWaiting: isAwaited) else { return }
        for client in index.clients(of: action) { touch(.client(client)) }
    }

    /// Whether nothing is left to be done for a client but to wait for its turn, or until it is admitted.
    func waitsForTurn(_ client: Subject) -> Bool {
        guard client.entry.source != nil, isPublished(client.name) else { return false }
        // A deployment waits for no turn.
        let owed = client.actions.filter { owes(client.name, $0) }
        return !owed.isEmpty && owed.allSatisfy { deliveryTurns.isWaiting($0) }
    }
}
