import AppleClientSecret
internal import Failures
import Model

/// When a request is done, and its answer.
extension Rotation {
    /// Answers the requests that are done.
    ///
    /// - Parameter planned: the clients that this plan covers. A request that is done with one of them no longer hurries it,
    ///   even if it still waits for others.
    mutating func planAnswers(_ planned: [ConfiguredClient], _ timer: inout WakeTimer) {
        let now = timer.now
        var requests = waiting.take()
        var waiting: [PendingRequest] = []
        for index in requests.indices {
            for client in planned where requests[index].chosen.contains(client.name) {
                if let result = result(of: client, in: requests[index], at: now) {
                    requests[index].end(client.name, result)
                }
            }
            if let answer = jobs.isStopping ? .stopping : answer(to: requests[index], &timer) {
                self.waiting.answer(requests[index].requestID, answer)
            } else {
                waiting.append(requests[index])
            }
        }
        self.waiting.replace(waiting)
    }

    private mutating func answer(to request: PendingRequest, _ timer: inout WakeTimer) -> Answer? {
        let now = timer.now
        switch request.request {
        case .reload:
            if let failure = overdueFailure(of: .configuration) { return .unread(diagnostics: [failure.sentence]) }
            if case .refused(let diagnostics) = request.reload { return .refused(diagnostics: diagnostics) }
            if case .unread(let diagnostics) = request.reload { return .unread(diagnostics: diagnostics) }
            // The search for former outputs starts only after everything was tried.
            guard case .adopted(let adoptedAt)? = request.reload, areAllTried, !isProbing, !jobs.isBusy(.state),
                !awaitsMetrics, !awaitsService(at: now) || timer.reached(adoptedAt + Self.overdueAfter)
            else { return nil }
            return .reloaded(
                unserved: index.all.flatMap { client in
                    problems(of: client, at: now).map { "client \"\(client.name)\": \($0)" }
                } + noticeProblems.map { "on_state_change: \($0.message)" } + faults.ofConfiguration.map(\.message),
                orphaned: request.orphaned)
        case .fleet(let all): return fleetAnswer(all: all, since: request.since, at: now)
        case .rollout(let client, let order):
            let isLate = timer.reached(request.askedAt + Self.longestOrder)
            let answer = rolloutAnswer(order, of: client, since: request.since, isLate: isLate, at: now)
            if case .noRollout = answer { withdrawOrder(of: client) }
            return answer
        case .renew:
            guard !request.isWaiting else { return nil }
            return .renewed(
                request.results.sorted { $0.key < $1.key }.map { RenewalOutcome(client: $0.key, result: $0.value) })
        }
    }

    /// Everything that keeps a client from being served after a reload, each once.
    private func problems(of client: ConfiguredClient, at now: Now) -> [String] {
        let all =
            failures(of: client, where: { !$0.isBeforeReload }) + serviceProblems(of: client, at: now)
            + contests(of: client, at: now) + outputProblems(of: client)
            + (wantedSecret(client) == nil ? [clock.failure].compactMap { $0 } : [])
        var seen: Set<String> = []
        return all.map(\.message).filter { seen.insert($0).inserted }
    }

    /// The result for a client that a request has chosen; nil while something is still to come.
    private func result(
        of client: ConfiguredClient, in request: PendingRequest, at now: Now
    ) -> RenewalOutcome.Result? {
        if let failure = failures(of: client, where: { $0.job >= request.since }).first {
            return .failed(failure.message)
        }
        if wantedSecret(client) == nil, !jobs.isBusy(.client(client.name)), let failure = clock.failure {
            return .failed(failure.message)
        }
        // Without a secret there is nothing to deliver until its source offers one.
        if let source = clients[client].source, !request.isDeliverOnly || wantedSecret(client) == nil {
            // The source is judged once the outputs were read again too.
            guard source.reading.isFresh || jobs.isOverdue(sourceResource(of: client)), isKnown(client) else {
                return nil
            }
            if let failure = sourceFailure(of: client) { return .failed(failure.message) }
        }
        let secret = clients[client].secret
        guard !secret.isForced, let current = secret.current, request.isDeliverOnly || pendingCandidate(client) == nil
        else {
            return nil
        }
        if let failure = contests(of: client, at: now).first
            ?? (isKnown(client) ? outputProblems(of: client).first : nil)
        {
            return .failed(failure.message)
        }
        guard isPublished(client, at: now), wasPushed(client, at: now) else { return nil }
        if !owedActions(of: client).isEmpty {
            if request.isDeliverOnly, actionsToRepeat(of: client).isEmpty { return .untouched }
            return (configurationWatch.restraint?.message).map { .failed($0) }
        }
        return request.isDeliverOnly || client.entry.source != nil ? .delivered(current) : .renewed(current)
    }

    /// The failures of a client's contested files and targets, which stay bad for now because another program keeps changing
    /// them.
    private func contests(of client: ConfiguredClient, at now: Now) -> [Failure] {
        let files = client.files.filter { isLeftAlone($0, at: now) }.map(Failure.Place.path)
        let targets = client.targets.filter { isLeftAlone($0.target, at: now) }.map { Failure.Place.target($0.target) }
        return (files + targets).map { Failure(.contested, at: $0) }
    }
}
