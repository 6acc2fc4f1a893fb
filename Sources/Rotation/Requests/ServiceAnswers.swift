internal import Failures
import Model

/// What only other services know: an API, Apple and the store. A reload waits for their first answers, because its own answer
/// is to name each client that cannot be served.
///
/// No other work waits for them. The wait ends ``overdueAfter`` after the configuration was adopted, however many answers are
/// missing then: an API may take longer, and Apple is asked about one client after another.
extension Rotation {
    /// Whether the first answer about some client since the last reload is still to come.
    func awaitsService(at now: Now) -> Bool {
        index.all.contains { client in
            client.targets.contains { isUntried($0.target, at: now) } || isCandidateUntried(client, at: now)
                || isStoreUntried(client)
        }
    }

    /// The problems that services have with a client, and the places without its secret whose services have not answered yet. A
    /// secret that is in its place, or in the store, is used while the service is away.
    func serviceProblems(of client: ConfiguredClient, at now: Now) -> [Failure] {
        let silent = client.targets.map(\.target).compactMap { target in
            overdueService(of: target)
                ?? (isUntried(target, at: now) && !isGood(target) ? Failure(.notChecked, at: .target(target)) : nil)
        }
        let ofStore = WakeTimer.peek(at: now) { [sourceReason(of: client, &$0), storeReason(of: client, &$0)] }
        return silent + ofStore.compactMap { $0?.failure }
    }

    /// Whether no push or read of a target has succeeded or failed since the last reload, and one is to come.
    private func isUntried(_ target: TargetName, at now: Now) -> Bool {
        guard let wanted = index.clientOfTarget[target].flatMap({ wantedSecret($0) }), let state = targets[target]
        else { return false }
        let wasTried = state.readAt != nil && state.holds(wanted) || jobs.hasFailedSinceReload(.target(target))
        return !wasTried && !jobs.isOverdue(.target(target)) && !isGivenUp(target, at: now)
    }

    /// The same for Apple's answer about a secret that waits for it. A first refusal is an answer, and no failure yet.
    private func isCandidateUntried(_ client: ConfiguredClient, at now: Now) -> Bool {
        let resource = Resource.verification(client.name)
        guard pendingCandidate(client) != nil, let verification = clients[client].verification,
            verification.isUnanswered || jobs.attempts[resource] != nil,
            jobs.isBusy(resource) || WakeTimer.peek(at: now, { verification.mayAsk(&$0) })
        else { return false }
        return !jobs.hasFailedSinceReload(resource) && !jobs.isOverdue(resource)
    }

    /// The same for the read of the store, and for the put that may follow it.
    private func isStoreUntried(_ client: ConfiguredClient) -> Bool {
        guard client.concernsStore, !storePlaces(of: client).isEmpty else { return false }
        return !storePolling.isFresh && !jobs.isOverdue(.store) || client.isSharing && jobs.isBusy(.share(client.name))
    }
}
