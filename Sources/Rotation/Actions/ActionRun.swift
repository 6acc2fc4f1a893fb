import AppleClientSecret
internal import Failures
import Model

/// The known state of an action's runs.
struct ActionRun: Sendable {
    /// The deployment that is under way.
    private(set) var deployment: Deployment?
    /// The turn or rollout that is the only reason the action does not run, as last planned.
    private(set) var waitsFor: ActionView.Wait?

    struct Deployment: Hashable, Sendable {
        /// The secrets that it deploys.
        let secrets: [ClientName: SecretInfo]
        /// When it was first seen to be under way.
        let since: BootTime
        /// When to ask again whether it is done.
        let askAt: BootTime

        /// How often the API is asked whether a deployment is done.
        fileprivate static let interval: Seconds = 15
    }

    fileprivate mutating func wait(for reason: ActionView.Wait?) { waitsFor = reason }

    /// Records that a project is being deployed with these secrets; nil if it is not.
    mutating func recordDeployment(of secrets: [ClientName: SecretInfo]?, at now: Now) {
        deployment = secrets.map { secrets in
            Deployment(
                secrets: secrets, since: deployment?.since ?? now.boot, askAt: now.boot + Deployment.interval)
        }
    }

    /// Whether a client's secret is being deployed.
    func isDeploying(_ secret: SecretInfo, of client: ClientName) -> Bool {
        deployment?.secrets[client]?.isSame(as: secret) == true
    }

    /// Whether the API may be asked again about a deployment that is under way.
    func mayAsk(_ timer: inout WakeTimer) -> Bool { deployment.map { timer.reached($0.askAt) } ?? true }
}

/// - An action runs once for all of its clients. It waits for clients about to get a new secret, and a few seconds for Apple's
///   verdict on one.
/// - A project is deployed again once for all pushes to it. It waits for every push that runs or is due, but not for files or
///   failing pushes. The secrets count as delivered once the API reports that the deployment runs.
/// - A deployment waits for its turn or a rollout like any other action. One that has begun is followed to its end.
extension Rotation {
    // MARK: State

    mutating func runFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .run(let action, let covering) = job.work else { return }
        let isDeploying = result == .success(.deploying)
        runs[action.id]?.recordDeployment(of: isDeploying ? covering.mapValues(\.issued) : nil, at: now)
        guard !isCutOff(action), case .success(let outcome) = result else {
            for client in covering.keys.compactMap({ index[$0] }) {
                repeatActions(of: client, because: .runFailed(action.id), at: now)
                if case .failure(let failure) = result { clients[client].deliveries.fail(action.id, failure) }
                touch(client)
            }
            return
        }
        guard outcome != .deploying else { return }
        guard case .ran = outcome else { return unexpected(outcome, of: job) }
        for (name, covered) in covering {
            guard let client = index[name] else { continue }
            clients[client].deliveries.ran(action.id, covered.issued, by: job.id, own: client.actions, at: now)
            // Also a client from which a reload has since removed the action.
            touch(client)
            for path in client.files { files[path]?.drift.delivered(at: now.boot) }
        }
        events.append(.ran(action.id, covering.mapValues(\.issued)))
        // Both fail for the same reason.
        jobs.retry(.probe(action.id), at: now)
    }

    /// Whether a run of an action that ends now counts as not done, whatever its result: systemd ends a service's programs
    /// together with it, and some exit with 0 then.
    func isCutOff(_ action: Action) -> Bool {
        if case .exec = action { jobs.isStopping } else { false }
    }

    /// Whether something is being deployed, as far as is known.
    var isDeploying: Bool { runs.values.contains { $0.deployment != nil } }

    // MARK: Plan

    mutating func planAction(_ id: ActionID, _ timer: inout WakeTimer) {
        guard let action = index.actions[id], !configurationWatch.isRestrained else { return }
        shortenPause(of: .action(id), &timer)
        if let targets = index.targetsOfAction[id] { return planRedeployment(action, of: targets, &timer) }
        let sharers = index.clients(of: .action(id))
        // One run serves all clients of an action: wait for those about to get a new secret.
        for client in sharers
        where !isSettled(client) || client.files.contains(where: { jobs.isBusy(.file($0)) }) { return }
        var covering: [ClientName: CoveredClient] = [:]
        for client in sharers {
            guard let current = wantedSecret(client), owes(client, id), isPublished(client, at: timer.now),
                !isHeldByContest(id, of: client, &timer)
            else { continue }
            covering[client.name] = CoveredClient(issued: current, outputs: client.outputs)
        }
        let covered = sharers.filter { covering[$0.name] != nil }
        runs[id]?.wait(for: nil)
        guard !covered.isEmpty else { return }
        if let wait = wait(of: id, for: covered, &timer) {
            runs[id]?.wait(for: wait)
            return
        }
        let others = sharers.filter { covering[$0.name] == nil }
        guard timer.met({ !waitsForVerdict(on: others, id, for: covered, &$0) }) else { return }
        jobs.start(.run(action, covering: covering), on: .action(id), &timer)
    }

    /// The turn or rollout that an action waits for, with all clients for which it would run; nil if it may run. Its moments are
    /// a reason to wake only while it waits.
    private func wait(
        of id: ActionID, for clients: [ConfiguredClient], _ timer: inout WakeTimer
    ) -> ActionView.Wait? {
        var wait: ActionView.Wait?
        _ = timer.met { timer in
            wait = turn(of: id, for: clients, &timer)
            return wait == nil
        }
        return wait
    }

    /// Whether an action that is to run for these clients waits for Apple's verdict on the new secret of another one.
    private func waitsForVerdict(
        on others: [ConfiguredClient], _ id: ActionID, for clients: [ConfiguredClient], _ timer: inout WakeTimer
    ) -> Bool {
        others.contains { isVerdictAwaited($0, &timer) } && mayWait(id, for: clients, &timer)
    }

    /// Deploys a project again once nothing more is about to be pushed to it.
    private mutating func planRedeployment(
        _ action: Action, of targets: Set<TargetName>, _ timer: inout WakeTimer
    ) {
        guard case .redeploy(let project, _) = action, runs[action.id]?.mayAsk(&timer) != false else { return }
        let sharers = index.clients(of: .action(action.id))
        var covering: [ClientName: CoveredClient] = [:]
        for client in sharers {
            guard isSettled(client) else { return }
            guard let wanted = wantedSecret(client) else { continue }
            let own = client.targets.map(\.target).filter(targets.contains)
            let missing = own.filter { self.targets[$0]?.holds(wanted) != true }
            guard missing.allSatisfy({ isGivenUp($0, at: timer.now) }) else { return }
            guard missing.isEmpty, owes(client, action.id), !isHeldByContest(action.id, of: client, &timer) else {
                continue
            }
            covering[client.name] = CoveredClient(issued: wanted, outputs: client.outputs)
        }
        runs[action.id]?.wait(for: nil)
        let begun = covering.filter { name, covered in
            runs[action.id]?.isDeploying(covered.issued, of: name) == true
        }
        if begun.count < covering.count,
            let wait = wait(of: action.id, for: sharers.filter { covering[$0.name] != nil }, &timer)
        {
            covering = begun
            if begun.isEmpty { runs[action.id]?.wait(for: wait) }
        }
        guard !covering.isEmpty else {
            // A deployment of earlier secrets may be under way, and is of no interest any more.
            runs[action.id]?.recordDeployment(of: nil, at: timer.now)
            return
        }
        let deployed = sharers.filter { covering[$0.name] != nil }.flatMap(\.targets).map(\.target)
            .filter(targets.contains)
        jobs.start(
            .run(.redeploy(project: project, targets: deployed), covering: covering), on: .action(action.id), &timer
        )
    }

    /// Whether an action has run for a client's secret, and runs again only when its places are no longer contested. If another
    /// program continues to write there, the application would otherwise be restarted again and again.
    private func isHeldByContest(_ id: ActionID, of client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        guard let current = clients[client].secret.current, !waiting.isWaiting(for: client.name),
            clients[client].deliveries.delivered[id]?.isSame(as: current) == true
        else { return false }
        return drifts(of: client).contains { $1.holdsActions(for: current, &timer) }
    }

    /// Whether an action may run a little later: every application that it is to notify has a secret that is not critical and
    /// not known to be bad.
    func mayWait(_ id: ActionID, for clients: [ConfiguredClient], _ timer: inout WakeTimer) -> Bool {
        clients.allSatisfy { client in
            let held = secretsInUseMeanwhile(by: id, of: client)
            guard !held.isEmpty, self.clients[client].deliveries.owed[id] == nil else { return false }
            return !held.contains { mustBeReplaced($0, of: client, &timer) } && currentRefusal(client) == nil
        }
    }

    /// Whether an application that an action has yet to notify holds, as far as is known, a critical or expired secret, or one that
    /// Apple refuses.
    func isEmergency(_ id: ActionID, _ timer: inout WakeTimer) -> Bool {
        for client in index.clients(of: .action(id)) where owes(client, id) {
            for held in secretsInUse(by: id, of: client) where mustBeReplaced(held, of: client, &timer) { return true }
        }
        return false
    }

    /// Whether each action that has yet to run for a client's secret, which all its places hold, only waits: for its turn, for a
    /// rollout, or for a deployment, which takes minutes. All is well meanwhile. Until the first deployment runs, nothing was
    /// deployed.
    func isOnlyWaiting(_ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        guard isPublished(client, at: timer.now) else { return false }
        return owedActions(of: client).allSatisfy { action in
            switch wait(of: action, &timer) {
            case .turn, .rollout: client.entry.source != nil
            case .deployment: clients[client].deliveries.delivered[action] != nil
            case nil: false
            }
        }
    }

    /// Whether an action is deploying a project, and has not taken longer than that may take.
    private func awaitsDeployment(_ action: ActionID, _ timer: inout WakeTimer) -> Bool {
        guard index.targetsOfAction[action] != nil else { return false }
        guard let deployment = runs[action]?.deployment else { return jobs[.action(action)] != nil }
        return !timer.reached(deployment.since + Action.longestDeployment)
    }

    /// The expected delay that an action waits for; nil if the action should run now.
    func wait(of action: ActionID, _ timer: inout WakeTimer) -> ActionView.Wait? {
        awaitsDeployment(action, &timer) ? .deployment : runs[action]?.waitsFor
    }
}
