internal import Failures
package import Model

// The five phases of a plan, in the order in which a secret is processed: each sees the decisions of the one before it.
extension Rotation {
    /// Decides what to do now, and marks the jobs that it starts as running.
    package mutating func plan(at now: Now) -> Step {
        planCircumstances(at: now)
        planKeysAndStore(at: now)
        let clients = touchedClients
        planClients(clients, at: now)
        planPublishing(for: clients, at: now)
        planReporting(of: clients, at: now)
        return takeStep(at: now)
    }

    /// Plans due work, the clock, the configuration and requests.
    private mutating func planCircumstances(at now: Now) {
        for resource in scope.takeReached(at: now) { touch(resource) }
        planOverdue(at: now)
        plan(.configuration, at: now) { $0.planClock(&$1) }
        plan(.configuration, at: now) { $0.planConfiguration(&$1) }
        planRequests(at: now)
    }

    private mutating func planKeysAndStore(at now: Now) {
        for key in scope.keys.sorted() { plan(.key(key), at: now) { $0.planKey(key, &$1) } }
        plan(.store, at: now) { $0.planStore(&$1) }
    }

    /// Each client: its current secret, then whether to mint. Whether it is renewed with others depends on theirs.
    private mutating func planClients(_ clients: [ConfiguredClient], at now: Now) {
        for client in clients { plan(.client(client.name), at: now) { $0.settle(client, &$1) } }
        let together = renewedTogether(clients, at: now)
        for client in clients { plan(.client(client.name), at: now) { $0.planRenewal(client, together, &$1) } }
    }

    /// Records, the store, Apple's verdicts, files, targets and actions: the way of each client's current secret.
    private mutating func planPublishing(for clients: [ConfiguredClient], at now: Now) {
        for client in clients {
            plan(.record(client.name), at: now) { $0.planRecord(client, &$1) }
            if client.isSharing {
                plan(.share(client.name), at: now) { $0.planShare(client, &$1) }
                plan(.rollout(client.name), at: now) { $0.planRollout(client, &$1) }
            }
            planCredential(client)
        }
        plan(.state, at: now) { $0.planRequestToApple(&$1) }
        for file in Set(clients.flatMap(\.files)).sorted() { plan(.file(file), at: now) { $0.planFile(file, &$1) } }
        for target in clients.flatMap(\.targets).map(\.target).sorted() {
            plan(.target(target), at: now) { $0.planTarget(target, &$1) }
        }
        for action in Set(clients.flatMap(\.actions)).sorted() {
            plan(.action(action), at: now) { $0.planAction(action, &$1) }
        }
    }

    /// Health, reports, metrics, remedies, and the answers to requests. From here on, an unpublished secret counts as missing.
    private mutating func planReporting(of clients: [ConfiguredClient], at now: Now) {
        noteTried(clients, at: now)
        for client in clients { plan(.client(client.name), at: now) { $0.judge(client, &$1) } }
        planReadiness()
        plan(.state, at: now) { $0.planMetrics(&$1) }
        if index.hasStore {
            for client in clients { noteHolding(client, at: now) }
            plan(.report, at: now) { $0.planReport(&$1) }
            plan(.fleet, at: now) { $0.planFleet(&$1) }
        }
        for action in probesToPlan { plan(.probe(action), at: now) { $0.planProbe(action, &$1) } }
        plan(.state, at: now) { $0.planStateChangeActions(&$1) }
        plan(.state, at: now) { $0.planTidying(&$1) }
        plan(.state, at: now) { $0.planAnswers(clients, &$1) }
    }

    /// Whether a single run has nothing left to do or to wait for.
    func hasTriedAll(at now: Now) -> Bool {
        isReady && !awaitsVerdict && !awaitsTarget(at: now) && !isDeploying
            && jobs.all.allSatisfy { overdueFailure(of: $0.resource) != nil }
    }

    /// Plans one resource, and sets when it is planned again.
    private mutating func plan(
        _ resource: Resource, at now: Now, _ next: (inout Rotation, inout WakeTimer) -> Void
    ) {
        var timer = WakeTimer(now: now)
        next(&self, &timer)
        scope.wake(resource, at: timer)
    }

    /// Collects the decisions.
    private mutating func takeStep(at now: Now) -> Step {
        scope.clear()
        var step = Step(
            start: jobs.takeStarted(), wake: scope.earliestWake, answers: waiting.takeFound())
        if let moment = jobs.nextOverdue { step.wake.formEarliest(with: Wake(boot: moment)) }
        swap(&step.changes, &events)
        swap(&step.served, &served)
        step.ended = jobs.isStopping ? jobs.isEmpty : isOnce && hasTriedAll(at: now)
        // With thousands of clients it would take longer than the plan.
        assert(index.all.count > 50 || checkInvariants() == [])
        return step
    }
}
