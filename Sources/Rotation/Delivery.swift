import AppleClientSecret
internal import Failures

/// Which secret each client's applications were given, and which actions are still to run.
///
/// - An action runs once for all of its clients: it waits for those about to get a new secret, for Apple's verdict on one
///   a few seconds only.
/// - It runs again for the same secret where an application may have read other content; a run that began earlier does
///   not count for that.
/// - Nothing is delivered that is not in all outputs of its client, but for targets whose push fails.
/// - A project is deployed again once for all that was pushed to it: it waits for every push to it that runs or is due, and
///   not for files, nor for pushes that fail. What was deployed counts as delivered once the API says that it runs.
struct Delivery: Sendable {
    private var states: [ClientName: State] = [:]
    /// For each action a client that a run was last found to wait for.
    private var awaited: [ActionID: ClientName] = [:]
    /// The deployments that are under way.
    private var deployments: [ActionID: Deployment] = [:]

    private struct Deployment: Hashable, Sendable {
        /// When it was first seen to be under way.
        let since: BootTime
        /// When to ask again whether it is done.
        let askAt: BootTime
    }

    /// How often it is asked whether a deployment is done.
    private static let deployingPace: Seconds = 15
    /// How long one may take. Vercel ends a build after 45 minutes (https://vercel.com/docs/limits); before that it may have
    /// waited for others.
    fileprivate static let longestDeployment: Seconds = 3600

    struct State: Hashable, Sendable {
        /// The secret that each action last ran for.
        fileprivate(set) var delivered: [ActionID: SecretInfo] = [:]
        fileprivate(set) var ranAt: [ActionID: WallTime] = [:]
        /// Actions to run again for the same secret, because applications may have read other content; and the first
        /// job whose run counts, because one that began earlier may have had that content read.
        fileprivate(set) var owed: [ActionID: JobID] = [:]
    }

    subscript(_ client: ClientName) -> State? { states[client] }

    var allDelivered: some Sequence<SecretInfo> { states.values.lazy.flatMap(\.delivered.values) }

    mutating func adopt(_ index: Index) {
        states = index.subjects.states(from: states, else: State())
        awaited = [:]
        deployments = [:]
    }

    /// Whether something is being deployed, as far as is known.
    var isDeploying: Bool { !deployments.isEmpty }

    /// Since when a deployment is under way; nil where none is known to be.
    fileprivate func deploying(_ action: ActionID) -> BootTime? { deployments[action]?.since }

    fileprivate mutating func asked(_ action: ActionID, isDeploying: Bool, at now: Now) {
        deployments[action] =
            isDeploying
            ? Deployment(since: deployments[action]?.since ?? now.boot, askAt: now.boot + Self.deployingPace) : nil
    }

    /// Whether it may be asked again how a deployment that is under way gets on.
    fileprivate func mayAsk(_ action: ActionID, _ deadlines: inout Deadlines) -> Bool {
        deployments[action].map { deadlines.reached($0.askAt) } ?? true
    }

    /// The client that a run of an action has to wait for.
    ///
    /// Thousands of clients may share an action, which is planned at each of their jobs: as long as the one found last is
    /// still about to change, no other is looked at. The last one of those about to change is taken, because jobs are
    /// started in the order of the clients, so that it changes late.
    fileprivate mutating func awaited(
        by action: ActionID, among clients: [ClientName], where isAboutToChange: (ClientName) -> Bool
    ) -> ClientName? {
        if let known = awaited[action], isAboutToChange(known) { return known }
        awaited[action] = clients.last(where: isAboutToChange)
        return awaited[action]
    }

    /// Takes what a client's record says. When the state directory answers late, deliveries made meanwhile are newer.
    mutating func recall(_ record: Record, _ client: ClientName, next: JobID) {
        states[client]?.delivered.merge(record.delivered) { observed, _ in observed }
        for action in record.owed where states[client]?.owed[action] == nil { states[client]?.owed[action] = next }
    }

    /// Has an action run again although the secret is unchanged; only jobs from `next` on count.
    fileprivate mutating func owe(_ action: ActionID, to client: ClientName, next: JobID) {
        states[client]?.owed[action] = next
    }

    /// Assumes that a secret was delivered by whatever delivered it.
    fileprivate mutating func presume(_ secret: SecretInfo, _ client: ClientName) {
        states[client]?.delivered[.unknown] = secret
    }

    /// Records that an action ran for a client.
    ///
    /// - Parameter actions: the client's own. Deliveries by others are forgotten once each of its own has delivered.
    fileprivate mutating func ran(
        _ action: ActionID, _ client: ClientName, _ secret: SecretInfo, by job: JobID, own actions: [ActionID],
        at now: Now
    ) {
        guard var state = states[client] else { return }
        state.delivered[action] = secret
        state.ranAt[action] = now.wall
        if let since = state.owed[action], job >= since { state.owed[action] = nil }
        if !actions.isEmpty, state.delivered.count > actions.count,
            actions.allSatisfy({ state.delivered[$0] != nil })
        {
            state.delivered = state.delivered.filter { actions.contains($0.key) }
        }
        states[client] = state
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.clients.keys) { broken.append("deliveries to other clients") }
        for (name, state) in states {
            if state.owed.values.contains(where: { $0 > next }) { broken.append("\(name) waits for no job at all") }
        }
        return broken
    }
}

extension Rotation {
    // MARK: What is

    mutating func runFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .run(let action, let covering) = job.work else { return }
        delivery.asked(action.id, isDeploying: result == .success(.deploying), at: now)
        guard case .success(let outcome) = result, outcome != .deploying else { return }
        guard case .ran = outcome else { return unexpected(outcome, of: job) }
        for (client, covered) in covering {
            delivery.ran(
                action.id, client, covered.issued, by: job.id, own: index.subjects[client]?.actions ?? [], at: now)
            // Also a client from which a reload has removed the action meanwhile.
            touch(.client(client))
            for path in index.files(of: client) { destinations.delivered(path, at: now) }
        }
        events.append(.ran(action.id, covering.mapValues(\.issued)))
        // The action ran, so what made its probe fail may be gone.
        if jobs.resetBackoff(of: .probe(action.id), to: now.boot) { touch(.probe(action.id)) }
    }

    /// For a client without a record, because it was renamed or the state directory was lost: assumes that its
    /// applications were given the secret in its outputs that expires first.
    mutating func presumeDelivered(_ client: Subject, _ state: Renewal.State) {
        guard !state.hasChosen, !client.actions.isEmpty, records.kept(client.name) == Record(),
            delivery[client.name]?.delivered.isEmpty == true
        else { return }
        var found: [SecretInfo] = []
        for place in client.places {
            let observed = destinations[place.path]?.observed?.slots ?? [:]
            found += place.slots.compactMap { observed[$0]?.issued }.filter { $0.client == client.entry.clientID }
        }
        if let oldest = found.min(by: { $0.expiresAt < $1.expiresAt }) { delivery.presume(oldest, client.name) }
    }

    /// Has actions run again for a secret that they delivered before it came to this place: a reload added or moved an
    /// output, or a directory appeared late. Not before READY: at a start the applications have yet to begin.
    mutating func deliverNew(_ secrets: [Slot: SecretInfo], in spec: FileSpec) {
        guard readiness.isReady, let file = destinations[spec.path], file.drift.isNew(secrets.mapValues(\.fingerprint))
        else { return }
        for (slot, issued) in secrets where file.observed?.slots[slot]?.issued?.fingerprint != issued.fingerprint {
            if let client = spec.slots[slot] { deliverAgain(issued, to: client) }
        }
    }

    /// Has the actions run again that have delivered this secret to a client.
    mutating func deliverAgain(_ secret: SecretInfo, to client: ClientName) {
        for action in index.actions(of: client)
        where delivery[client]?.delivered[action]?.isSame(as: secret) == true {
            delivery.owe(action, to: client, next: jobs.next)
        }
    }

    /// Has the clients' actions run again although their secrets are unchanged.
    mutating func deliverAgain(to clients: some Sequence<ClientName>) {
        for client in clients {
            for action in index.actions(of: client) { delivery.owe(action, to: client, next: jobs.next) }
        }
    }

    /// Whether an action that makes a client's applications read its files is running.
    func isDelivering(_ client: ClientName) -> Bool {
        index.actions(of: client).contains { jobs[.action($0)] != nil }
    }

    // MARK: What is wanted

    mutating func planAction(_ id: ActionID, _ deadlines: inout Deadlines) {
        guard let action = index.actions[id], !configurationWatch.isRestrained else { return }
        capBackoff(action, &deadlines)
        if let targets = index.targetsOfAction[id] { return planRedeployment(action, of: targets, &deadlines) }
        let sharers = index.clients(of: id)
        // One run serves all clients of an action: wait for those about to get a new secret.
        let awaited = delivery.awaited(by: id, among: sharers) { [records, index, jobs] client in
            !records.isSettled(client) || index.files(of: client).contains { jobs.isBusy(.file($0)) }
        }
        guard awaited == nil else { return }
        var covering: [ClientName: Covered] = [:]
        for client in sharers {
            guard let current = wantedSecret(client), owes(client, id), isPublished(client) else { continue }
            covering[client] = Covered(issued: current, outputs: index.subjects[client]?.outputs ?? [])
        }
        guard !covering.isEmpty else { return noteTurn(of: id, isAwaited: false) }
        // When waiting would have ended is no reason to wake once the action runs.
        var waiting = deadlines
        if waitsForTurn(id, for: covering.keys, &waiting) {
            noteTurn(of: id, isAwaited: true)
            deadlines = waiting
            return
        }
        noteTurn(of: id, isAwaited: false)
        waiting = deadlines
        if sharers.contains(where: { covering[$0] == nil && isVerdictAwaited($0, &waiting) }),
            mayWait(id, for: covering.keys, &waiting)
        {
            deadlines = waiting
            return
        }
        start(.run(action, covering: covering), on: .action(id), &deadlines)
    }

    /// Deploys a project again once nothing more is about to be pushed to it.
    private mutating func planRedeployment(
        _ action: Action, of targets: Set<TargetName>, _ deadlines: inout Deadlines
    ) {
        guard case .redeploy(let project, _) = action, delivery.mayAsk(action.id, &deadlines) else { return }
        var covering: [ClientName: Covered] = [:]
        var deployed: [TargetName] = []
        for client in index.clients(of: action.id) {
            guard records.isSettled(client) else { return }
            guard let wanted = wantedSecret(client) else { continue }
            let own = index.targets(of: client).map(\.target).filter(targets.contains)
            let missing = own.filter { self.targets[$0]?.holds(wanted) != true }
            guard missing.allSatisfy({ jobs.attempts[.target($0)] != nil && jobs[.target($0)] == nil }) else { return }
            guard missing.isEmpty, owes(client, action.id) else { continue }
            covering[client] = Covered(issued: wanted, outputs: index.subjects[client]?.outputs ?? [])
            deployed += own
        }
        guard !covering.isEmpty else { return }
        start(
            .run(.redeploy(project: project, targets: deployed), covering: covering), on: .action(action.id), &deadlines
        )
    }

    /// Whether an action may run a little later: every application that it is to notify has a secret that is neither
    /// critical nor known to be bad.
    func mayWait(
        _ id: ActionID, for clients: some Sequence<ClientName>, _ deadlines: inout Deadlines
    ) -> Bool {
        for client in clients {
            guard let subject = index.subjects[client], let held = held(by: id, of: subject),
                delivery[client]?.owed[id] == nil,
                !deadlines.reached(held.expiresAt - subject.entry.criticalRemainder(of: held)),
                refusalInForce(client) == nil
            else { return false }
        }
        return true
    }

    /// Caps a backoff that was set before an emergency began: it would be too long now.
    private mutating func capBackoff(_ action: Action, _ deadlines: inout Deadlines) {
        guard let attempts = jobs.attempts[.action(action.id)],
            !Retry.needsPerson(action, attempts.failure.code, failures: attempts.failures),
            isEmergency(action.id, &deadlines)
        else { return }
        // An API that wants to be left alone is, but not for ever.
        let bound = attempts.failure.retryAfter == nil ? Retry.emergencyBound : Retry.boundOfRest
        jobs.capBackoff(of: .action(action.id), to: deadlines.now.boot + bound)
    }

    /// Whether the failure of a job keeps an application waiting whose secret is critical or expired.
    func isEmergency(_ job: Job, at now: Now) -> Bool {
        // These deadlines are dropped: the plan of each failed action and target asks again and sets the wake.
        var deadlines = Deadlines(now: now)
        switch job.resource {
        case .action(let id): return isEmergency(id, &deadlines)
        case .target(let target): return isEmergency(target, &deadlines)
        default: return false
        }
    }

    /// Whether an application that an action has yet to notify holds, as far as is known, a critical or expired secret.
    private func isEmergency(_ id: ActionID, _ deadlines: inout Deadlines) -> Bool {
        for client in index.clients(of: id) where owes(client, id) {
            guard let subject = index.subjects[client], let held = held(by: id, of: subject) else { continue }
            if deadlines.reached(held.expiresAt - subject.entry.criticalRemainder(of: held)) { return true }
        }
        return false
    }

    /// The secret that applications notified by an action hold, as far as is known: the one it last ran for. Before its
    /// first run the one that expires first of those delivered by actions that are no longer the client's, because an
    /// edited action notifies the same application. Nil when they hold none.
    func held(by action: ActionID, of client: Subject) -> SecretInfo? {
        guard let delivered = delivery[client.name]?.delivered else { return nil }
        return delivered[action]
            ?? delivered.filter { !client.actions.contains($0.key) }.values.min { $0.expiresAt < $1.expiresAt }
    }

    /// Whether an action has yet to run for a client's secret.
    func owes(_ client: ClientName, _ action: ActionID) -> Bool {
        guard let state = delivery[client], let current = renewal[client]?.current else { return false }
        return state.delivered[action]?.isSame(as: current) != true || state.owed[action] != nil
    }

    /// Whether nothing is left to be done for a client but to wait for deployments, which take minutes: until one takes too
    /// long, nothing is amiss where an earlier secret was delivered.
    func awaitsDeployment(_ client: Subject, _ deadlines: inout Deadlines) -> Bool {
        let owed = client.actions.filter { owes(client.name, $0) }
        guard !owed.isEmpty, isPublished(client.name), client.targets.allSatisfy({ isGood($0.target) }) else {
            return false
        }
        return owed.allSatisfy { action in
            guard index.targetsOfAction[action] != nil, delivery[client.name]?.delivered[action] != nil else {
                return false
            }
            guard let since = delivery.deploying(action) else { return jobs[.action(action)] != nil }
            return !deadlines.reached(since + Delivery.longestDeployment)
        }
    }

    /// Whether a client is settled, all its files hold its secret, and no target is to be waited for.
    func isPublished(_ client: ClientName) -> Bool {
        guard records.isSettled(client), isInPlace(client), let subject = index.subjects[client] else { return false }
        return subject.targets.isEmpty || wantedSecret(subject).map { mayDeliver(past: subject.targets, $0) } == true
    }
}
