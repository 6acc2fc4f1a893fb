import AppleClientSecret
internal import Failures

/// When the actions of clients that receive their secrets may run: machines that received the same secret at once must not
/// all restart their applications at once.
///
/// - A turn is drawn when a secret is received, evenly from the time that `deliver_over` allows: with a store by this
///   machine's ``Rank``, in which rollouts admit machines too.
/// - An action of several clients runs at the first of their turns, for all of them, once ``Admissions`` allow it for one.
/// - Nobody waits whose delivered secret is missing, expired or critical, or who is asked for by a request to renew.
/// - A turn that has not come is kept in the client's record, by the wall clock: otherwise a package's upgrade, which
///   restarts the daemon on all machines, would have all of them deliver at once. `run --once` waits for no turn, nor does
///   what is received before READY.
struct DeliveryTurns: Sendable {
    private var turns: [ClientName: Turn] = [:]
    /// Actions that nothing but a turn or an admission keeps from running, as last planned.
    private var waiting: Set<ActionID> = []

    /// The same moment by both clocks: pauses count by the boot clock, and a restart knows the wall clock alone. Both are
    /// set once, because a record that followed a clock which is set now and then would be written again and again.
    fileprivate struct Turn: Hashable, Sendable {
        let boot: BootTime
        let wall: WallTime

        init(in wait: Seconds, at now: Now) {
            boot = now.boot + wait
            wall = now.wall + wait
        }
    }

    /// Brings turns forward that are later than the configuration allows now.
    mutating func adopt(_ configuration: Configuration, at now: Now) {
        for (client, turn) in turns {
            turns[client] = configuration.clients[client]?.source.map { source in
                turn.boot > now.boot + source.deliverOver ? Turn(in: source.deliverOver, at: now) : turn
            }
        }
        waiting = []
    }

    fileprivate mutating func set(_ turn: Turn?, _ client: ClientName) { turns[client] = turn }

    /// When a client's turn comes, or has come, for its record; nil where none was drawn.
    func moment(of client: ClientName) -> WallTime? { turns[client]?.wall }

    /// Takes what a client's record says, unless a turn was drawn meanwhile.
    ///
    /// - Parameter span: how long the configuration has turns last at most: the wall clock may have been set since.
    mutating func recall(_ moment: WallTime, _ client: ClientName, within span: Seconds, at now: Now) {
        let rest = min(moment - now.wall, span)
        guard turns[client] == nil, rest > 0 else { return }
        turns[client] = Turn(in: rest, at: now)
    }

    /// Returns whether that is new.
    fileprivate mutating func note(_ action: ActionID, isWaiting: Bool) -> Bool {
        isWaiting ? waiting.insert(action).inserted : waiting.remove(action) != nil
    }

    /// Whether nothing but a turn or an admission keeps an action from running.
    func isWaiting(_ action: ActionID) -> Bool { waiting.contains(action) }

    /// Whether a client's turn has come.
    fileprivate func hasCome(_ client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        turns[client].map { deadlines.reached($0.boot) } ?? true
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
        deliveryTurns.set(DeliveryTurns.Turn(in: wait, at: now), client.name)
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
