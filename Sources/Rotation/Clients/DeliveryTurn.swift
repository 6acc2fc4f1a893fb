import AppleClientSecret
internal import Failures
import Model

/// When this machine may deliver a client's received secret. The boot clock times the wait, because it cannot be set. The wall
/// clock is in the record, because it survives a restart.
///
/// Both are fixed once: otherwise each correction of the wall clock would rewrite the record.
struct DeliveryTurn: Hashable, Sendable {
    let boot: BootTime
    let wall: WallTime

    init(in wait: Seconds, at now: Now) {
        boot = now.boot + wait
        wall = now.wall + wait
    }

    /// The turn in a record; nil if its time has come.
    ///
    /// - Parameter span: how long the configuration has turns last at most: the wall clock may have been set since.
    init?(at moment: WallTime, within span: Seconds, _ now: Now) {
        let rest = min(moment - now.wall, span)
        guard rest > 0 else { return nil }
        self.init(in: rest, at: now)
    }

    /// The same turn, or an earlier one if the configuration now allows only that.
    func within(_ span: Seconds, at now: Now) -> DeliveryTurn {
        boot > now.boot + span ? DeliveryTurn(in: span, at: now) : self
    }

    func hasCome(_ timer: inout WakeTimer) -> Bool { timer.reached(boot) }
}

/// When the actions of clients that receive their secrets may run. Machines that receive the same secret must not all restart
/// their applications at once.
///
/// - A turn is drawn when a secret is received, evenly from the time that `deliver_over` allows. With a store it follows this
///   machine's ``RolloutRank``, the order in which rollouts admit machines too.
/// - An action of several clients runs at the first of their turns, for all of them, once a rollout allows it for one.
/// - A client does not wait if its delivered secret is missing, expired, critical or refused by Apple, or if the user requested
///   a renewal. It is missing as well if no record shows what was delivered: the output may hold a newer secret. A request to
///   deliver only repeats what has failed.
/// - An owed action does not wait either: it failed, or its application may have read something else (``Deliveries/owed``).
/// - The client's record keeps a future turn by the wall clock. Otherwise a package upgrade, which restarts the daemon on all
///   machines, would make all of them deliver at once.
/// - `run --once` waits for no turn. A secret received before READY has none either.
extension Rotation {
    // MARK: Events

    /// Adopts the turn in a client's record. A secret received before a late record was read has its own turn, or none.
    mutating func recallTurn(_ record: Record, _ client: ConfiguredClient, at now: Now) {
        guard let moment = record.turn, let source = client.entry.source, !isOnce, clients[client].turn == nil,
            clients[client].secret.current == record.current
        else { return }
        clients[client].turn = DeliveryTurn(at: moment, within: source.deliverOver, now)
    }

    /// Draws when a client's received secret is delivered.
    mutating func drawTurn(of client: ConfiguredClient, for secret: SecretInfo, at now: Now) {
        let span = client.entry.source?.deliverOver ?? 0
        guard isReady, span > 0, !waiting.isRenewing(client.name) else {
            clients[client].turn = nil
            return
        }
        // A future turn is kept: new secrets must not put deliveries off again and again.
        guard WakeTimer.peek(at: now, { clients[client].turn?.hasCome(&$0) }) != false else { return }
        // Without a store this machine has no name that others know.
        let wait =
            configuration.store.map { RolloutRank.part(RolloutRank.of($0.machine, secret.fingerprint), of: span) }
            ?? Seconds(Int64(jobs.jitter("turn \(client.name) \(secret.fingerprint)") * Double(span.count)))
        clients[client].turn = DeliveryTurn(in: wait, at: now)
    }

    // MARK: Plan

    /// Whether an action waits for its turn, or until it is admitted, with all clients for which it would run; nil if it may run.
    func turn(
        of action: ActionID, for clients: [ConfiguredClient], _ timer: inout WakeTimer
    ) -> ActionView.Wait? {
        var hasCome = false
        var isAdmitted = false
        for client in clients {
            // A request does not wait for the turn, once the source was read again for it.
            if waiting.isRenewing(client.name), self.clients[client].source?.reading.isFresh == true {
                return nil
            }
            if !hasCome { hasCome = skipsTurn(client) || self.clients[client].turn?.hasCome(&timer) != false }
            if !isAdmitted { isAdmitted = self.isAdmitted(client, action, &timer) }
        }
        if hasCome, isAdmitted { return nil }
        guard clients.allSatisfy({ knowsHolding(of: action, of: $0) }), mayWait(action, for: clients, &timer) else {
            return nil
        }
        return isAdmitted ? .turn : .rollout
    }
}
