import AppleClientSecret

/// A request that has no answer yet.
struct PendingRequest: Hashable, Sendable {
    let requestID: RequestID?
    let request: Request
    /// Jobs from this one on count as attempts on behalf of the request.
    let since: JobID
    var wantsConfiguration: Bool
    /// The clients to renew or deliver again; the other requested ones need nothing.
    var chosen: Set<ClientName>
    /// Clients of which too little is known yet to decide whether they are due.
    var undecided: Set<ClientName> = []
    /// Clients without an outcome yet, the next one last.
    var open: [ClientName]
    var outcomes: [RenewalOutcome] = []
    /// Clients for which nothing is minted, because of the clock or the configuration.
    var denied: [ClientName: Failure] = [:]
    /// Former outputs that still hold a secret, in words ready to show.
    var orphaned: [String] = []
}

extension Rotation {
    /// Whether a requested reload has no answer yet.
    package var isReloading: Bool {
        pending.contains { $0.request == .reload }
    }

    mutating func ask(_ request: Request, _ requestID: RequestID?, at now: Now) {
        if isStopping {
            if let requestID { answers.append((requestID, .stopping)) }
            return
        }
        let since = JobID(number: nextJob)
        switch request {
        case .reload:
            pending.append(
                PendingRequest(
                    requestID: requestID, request: request, since: since, wantsConfiguration: true, chosen: [], open: []
                ))
            touch(.configuration)
        case .renew(let renewal):
            let unknown = renewal.clients.filter { world.configuration.clients[$0] == nil }
            guard unknown.isEmpty else {
                if let requestID { answers.append((requestID, .unknownClients(unknown.sorted()))) }
                return
            }
            let asked = renewal.clients.isEmpty ? Set(world.configuration.clients.keys) : renewal.clients
            pending.append(
                PendingRequest(
                    requestID: requestID, request: request, since: since, wantsConfiguration: false, chosen: [],
                    undecided: asked, open: asked.sorted(by: >)))
            for client in asked {
                // Whether anything is undelivered is judged by what the files hold now.
                if renewal.deliverOnly { resetBackoff(client, at: now) } else { touch(.client(client)) }
            }
        }
    }

    /// Decides which clients a request to renew applies to, as soon as enough is known of each.
    mutating func planRequests(at now: Now) {
        var batches = Batches()
        for index in pending.indices {
            guard case .renew(let renewal) = pending[index].request else { continue }
            for client in pending[index].undecided.sorted() {
                guard let isChosen = isChosen(client, renewal, since: pending[index].since, at: now, &batches)
                else { continue }
                pending[index].undecided.remove(client)
                guard isChosen else { continue }
                pending[index].chosen.insert(client)
                guard !renewal.deliverOnly else { continue }
                world.clients[client]?.isForced = true
                resetBackoff(client, at: now)
            }
            if let failure = clock.failure ?? restraint, !renewal.deliverOnly { deny(index, failure) }
        }
    }

    /// Withdraws a request to mint: after the answer that nothing is minted, because of the clock or the configuration,
    /// no new secret may appear hours later that nobody remembers having requested.
    private mutating func deny(_ index: Int, _ failure: Failure) {
        for client in pending[index].chosen where world.clients[client]?.isForced == true && !isBusy(.client(client)) {
            pending[index].denied[client] = failure
        }
        for client in pending[index].denied.keys {
            world.clients[client]?.isForced = false
            touch(.client(client))
        }
    }

    /// Whether a request applies to a client; nil while that is not known yet.
    private func isChosen(
        _ client: ClientName, _ renewal: Request.Renewal, since job: JobID, at now: Now, _ batches: inout Batches
    ) -> Bool? {
        guard world.clients[client] != nil else { return true }
        if renewal.deliverOnly {
            guard isKnown(client), !isBusy(.client(client)),
                world.index.files(of: client).allSatisfy({ wasSeen($0, since: job) })
            else { return nil }
            return !isInPlace(client) || world.index.actions(of: client).contains { owes(client, $0) }
        }
        guard let span = renewal.dueWithin else { return true }
        // A distrusted clock cannot tell what is due: choose the client, so that its answer gives the clock as reason.
        if clock.failure != nil { return true }
        var deadlines = Deadlines(now: now)
        return switch decide(client, &batches, &deadlines) {
        case .wait: nil
        case .keep(_, let until): until <= now.wall + span
        case .mint: true
        }
    }

    /// Whether a file was read back, is overdue, or has failed in this or a later job.
    private func wasSeen(_ path: AbsolutePath, since job: JobID) -> Bool {
        world.files[path]?.isFresh == true || isOverdue(.file(path))
            || world.attempts[.file(path)].map { $0.job >= job } == true
    }

    /// Lets everything that serves a client be tried at once: whoever requests it may just have fixed the cause.
    private mutating func resetBackoff(_ client: ClientName, at now: Now) {
        for resource in resources(of: client) {
            world.attempts[resource]?.notBefore = now.boot
            if let job = world.running[resource] { retryAtOnce.insert(job.id) }
        }
        for path in world.index.files(of: client) {
            observeAgain(at: .file(path))
            world.files[path]?.drift.ask()
        }
        if let key = world.configuration.clients[client]?.key { touch(.key(key)) }
        touch(.client(client))
    }

    /// Everything whose failure keeps a client from being served.
    func resources(of client: ClientName) -> [Resource] {
        var all: [Resource] = []
        if let key = world.configuration.clients[client]?.key { all.append(.key(key)) }
        all.append(.client(client))
        all += world.index.files(of: client).map(Resource.file)
        all += world.index.actions(of: client).map(Resource.action)
        all += world.index.actions(of: client).map(Resource.probe)
        // Last: a record that was not written does no harm before the next start.
        all.append(.record(client))
        return all
    }

    /// Answers the requests that are done.
    mutating func planAnswers(at now: Now) {
        if isStopping {
            for request in pending { if let requestID = request.requestID { answers.append((requestID, .stopping)) } }
            pending = []
            return
        }
        var waiting: [PendingRequest] = []
        for var request in pending {
            guard let answer = answer(to: &request, at: now) else {
                waiting.append(request)
                continue
            }
            if let requestID = request.requestID { answers.append((requestID, answer)) }
        }
        pending = waiting
    }

    private func answer(to request: inout PendingRequest, at now: Now) -> Answer? {
        switch request.request {
        case .reload:
            if let failure = hang(of: .configuration) { return .refused(diagnostics: [failure.message]) }
            guard !request.wantsConfiguration, world.running[.configuration] == nil else { return nil }
            if let refusal { return .refused(diagnostics: refusal) }
            // The search for former outputs starts only after everything was tried.
            guard untried.isEmpty, !isProbing, !isBusy(.state) else { return nil }
            return .reloaded(
                unserved: names.compactMap { name in
                    (failure(of: name, since: request.since) ?? contest(of: name, at: now))
                        .map { "client \"\(name)\": \($0.message)" }
                } + noticeObstacles.map { "on_state_change: \($0.message)" }, orphaned: request.orphaned)
        case .renew:
            while let client = request.open.last {
                guard let result = result(of: client, in: request, at: now) else { return nil }
                request.open.removeLast()
                request.outcomes.append(RenewalOutcome(client: client, result: result))
            }
            return .renewed(request.outcomes)
        }
    }

    private func result(of client: ClientName, in request: PendingRequest, at now: Now) -> RenewalOutcome.Result? {
        if request.undecided.contains(client) { return nil }
        guard request.chosen.contains(client) else { return .untouched }
        guard let state = world.clients[client] else { return .failed("the client is no longer configured") }
        if let failure = failure(of: client, since: request.since) { return .failed(failure.message) }
        if let failure = request.denied[client] { return .failed(failure.message) }
        if wantedSecret(client) == nil, !isBusy(.client(client)), let failure = clock.failure {
            return .failed(failure.message)
        }
        guard !state.isForced, let current = state.current else { return nil }
        if let failure = contest(of: client, at: now) { return .failed(failure.message) }
        guard isPublished(client) else { return nil }
        if world.index.actions(of: client).contains(where: { owes(client, $0) }) {
            return (restraint?.message).map { .failed($0) }
        }
        if case .renew(let renewal) = request.request, renewal.deliverOnly { return .delivered(current) }
        return .renewed(current)
    }

    /// The failure of a resource that keeps this client from being served: a shared action that fails for another
    /// client alone does not.
    func attempts(at resource: Resource, for client: ClientName) -> Attempts? {
        if case .action(let id) = resource, !owes(client, id) { return nil }
        return world.attempts[resource]
    }

    /// The first failure since a request was made that keeps a client from being served. Its record does not count:
    /// without it the secret is published and delivered all the same.
    func failure(of client: ClientName, since job: JobID) -> Failure? {
        for resource in resources(of: client) where resource != .record(client) {
            if let attempts = attempts(at: resource, for: client), attempts.job >= job { return attempts.failure }
            if let failure = hang(of: resource) { return failure }
        }
        return nil
    }

    /// The failure of a client's contested file, which is left bad for now because another program keeps changing it.
    private func contest(of client: ClientName, at now: Now) -> Failure? {
        world.index.files(of: client).first { isLeftAlone($0, at: now) }.map { Failure(.contested, at: .path($0)) }
    }

    /// Whether a client was tried as far as possible: its secret is published and kept, or a known failure prevents it.
    ///
    /// - Parameter files: caches for each file whether it was tried, since several clients may share it.
    private func wasTried(_ client: Subject, _ files: inout [AbsolutePath: Bool], at now: Now) -> Bool {
        // An unsettled client has more to come: one failed output must not count for the others.
        guard world.clients[client.name]?.isSettled == true else { return false }
        guard wantedSecret(client) != nil else { return hasFailure(client.name) }
        for path in client.files {
            let wasTried = files[path] ?? wasTried(path, at: now)
            files[path] = wasTried
            if !wasTried { return false }
        }
        return true
    }

    private func wasTried(_ path: AbsolutePath, at now: Now) -> Bool {
        isGood(path) || world.attempts[.file(path)] != nil || isOverdue(.file(path)) || isVanished(path)
            || isLeftAlone(path, at: now)
    }

    private func hasFailure(_ client: ClientName) -> Bool {
        clock.failure != nil
            || resources(of: client).contains { !$0.isProbe && (world.attempts[$0] != nil || isOverdue($0)) }
    }

    /// - Parameter clients: those of which anything may have changed; tried ones are marked so.
    mutating func noteTried(_ clients: [Subject], at now: Now) {
        var files: [AbsolutePath: Bool] = [:]
        for client in clients where untried.contains(client.name) && wasTried(client, &files, at: now) {
            untried.remove(client.name)
            wasEverTried.insert(client.name)
        }
    }

    mutating func planReadiness() {
        guard !isReady, !isStopping, !names.isEmpty, untried.isEmpty else { return }
        isReady = true
        changes.append(.ready)
    }
}
