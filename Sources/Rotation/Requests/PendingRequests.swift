import AppleClientSecret
internal import Failures
import Model

/// A request that has no answer yet.
struct PendingRequest: Hashable, Sendable {
    let requestID: RequestID?
    let request: DaemonRequest
    /// Jobs from this one on count as attempts on behalf of the request.
    var since: JobID
    let askedAt: BootTime
    /// The progress of a reload; nil for other requests.
    var reload: Reload?
    /// Former outputs that still hold a secret, in words ready to show.
    var orphaned: [String] = []
    /// Clients of which too little is known to decide whether a renewal applies to them.
    var undecided: Set<ClientName> = []
    /// Clients that are to be renewed or delivered again, and have no result yet.
    var chosen: Set<ClientName> = []
    var results: [ClientName: RenewalOutcome.Result] = [:]

    enum Reload: Hashable {
        case wanted
        case reading
        /// The new configuration is current since this moment.
        case adopted(at: BootTime)
        /// It is refused for these reasons.
        case refused([String])
        /// It could not be read, for these reasons.
        case unread([String])
    }

    /// Whether it waits for a client.
    var isWaiting: Bool { !undecided.isEmpty || !chosen.isEmpty }

    /// Whether nothing is to be minted or received, and only undelivered secrets are to be delivered.
    var isDeliverOnly: Bool {
        if case .renew(let renewal) = request { renewal.deliverOnly } else { false }
    }

    /// Records the result of a client that needs no more work.
    mutating func end(_ client: ClientName, _ result: RenewalOutcome.Result) {
        undecided.remove(client)
        chosen.remove(client)
        results[client] = result
    }
}

/// The requests that have no answer yet, and the answers that were found.
///
/// - Each request is answered once. A request that comes while the daemon stops is answered at once.
/// - A failure answers a request only if its job began after the request was made.
/// - A secret that the clock or the configuration prevents is not minted later either.
struct PendingRequests: Sendable {
    private(set) var pending: [PendingRequest] = []
    private var found: [(RequestID, Answer)] = []

    // MARK: State

    /// Whether a reload was requested that has not begun.
    var wantConfiguration: Bool { pending.contains { $0.reload == .wanted } }

    /// Whether a request that has no answer yet wants this client renewed or delivered.
    func isWaiting(for client: ClientName) -> Bool { pending.contains { $0.chosen.contains(client) } }

    /// Whether such a request renews this client, so that its actions wait for no turn. One that only repeats what has failed is
    /// no order to act before the other machines.
    func isRenewing(_ client: ClientName) -> Bool {
        pending.contains { !$0.isDeliverOnly && $0.chosen.contains(client) }
    }

    /// Whether a request waits for a client.
    var isWaiting: Bool { pending.contains(where: \.isWaiting) }

    // MARK: Events

    mutating func add(_ request: PendingRequest) {
        pending.append(request)
    }

    mutating func answer(_ request: RequestID?, _ answer: Answer) {
        if let request { found.append((request, answer)) }
    }

    /// The configuration is being read for every reload that was requested until now.
    mutating func beginReading() {
        for index in pending.indices where pending[index].reload == .wanted { pending[index].reload = .reading }
    }

    /// Records the result of reading the configuration for every reload that requested it.
    mutating func endReading(_ reload: PendingRequest.Reload) {
        for index in pending.indices where pending[index].reload == .reading { pending[index].reload = reload }
    }

    /// Ends renewals of clients that the new configuration lacks.
    mutating func adopt(_ index: ConfigurationIndex) {
        for request in pending.indices {
            for name in pending[request].undecided.union(pending[request].chosen) where index[name] == nil {
                pending[request].end(name, .failed("the client is no longer configured"))
            }
        }
    }

    /// Adds former outputs that still hold a secret to the answers of the reloads that were carried out.
    mutating func report(orphaned: [OrphanedOutput]) {
        for index in pending.indices {
            if case .adopted? = pending[index].reload { pending[index].orphaned += orphaned.map(\.sentence) }
        }
    }

    /// Takes the requests out, to be put back with ``replace(_:)``: changed ones are not copied.
    mutating func take() -> [PendingRequest] {
        defer { pending = [] }
        return pending
    }

    mutating func replace(_ requests: [PendingRequest]) {
        pending = requests
    }

    /// The answers that were found since this was last called.
    mutating func takeFound() -> [(RequestID, Answer)] {
        defer { found = [] }
        return found
    }

    func checkInvariants() -> [String] {
        var broken: [String] = []
        if !found.isEmpty { broken.append("answers were found and not sent") }
        for request in pending {
            if (request.request == .reload) != (request.reload != nil) { broken.append("another request reloads") }
            guard case .renew = request.request else { continue }
            if !request.isWaiting { broken.append("a request has all results and is kept") }
        }
        return broken
    }
}

extension Rotation {
    /// Whether a requested reload has no answer yet.
    package var isReloading: Bool { waiting.pending.contains { $0.reload != nil } }

    mutating func ask(_ request: DaemonRequest, _ requestID: RequestID?, at now: Now) {
        if jobs.isStopping { return waiting.answer(requestID, .stopping) }
        var pending = PendingRequest(requestID: requestID, request: request, since: jobs.next, askedAt: now.boot)
        switch request {
        case .reload: pending.reload = .wanted
        case .fleet:
            jobs.want(.fleet, at: now)
            pending.since = readingOfFleet(at: now)
        case .rollout(let client, let order):
            guard let subject = index[client] else {
                return waiting.answer(requestID, .unknownClients([client]))
            }
            if let answer = orderRollout(order, of: subject, at: now) { return waiting.answer(requestID, answer) }
        case .renew(let renewal):
            let unknown = renewal.clients.filter { index[$0] == nil }
            guard unknown.isEmpty else { return waiting.answer(requestID, .unknownClients(unknown.sorted())) }
            pending.undecided = renewal.clients.isEmpty ? Set(configuration.clients.keys) : renewal.clients
            // A client that is not due stays unchanged. All clients are judged before anything is read again, because a read
            // leaves less known of clients that share it. The files' content then shows whether anything is undelivered.
            let found =
                renewal.deliverOnly
                ? [:] : choose(among: pending.undecided, renewal, since: pending.since, at: now)
            for client in pending.undecided.compactMap({ index[$0] }) {
                if found[client.name] == false { touch(client) } else { resetBackoff(client, at: now) }
            }
        }
        waiting.add(pending)
    }

    /// Decides which clients a request to renew applies to, as soon as enough is known of each.
    mutating func planRequests(at now: Now) {
        var requests = waiting.take()
        for index in requests.indices {
            guard case .renew(let renewal) = requests[index].request else { continue }
            let found = choose(among: requests[index].undecided, renewal, since: requests[index].since, at: now)
            for (name, isChosen) in found.sorted(by: { $0.key < $1.key }) {
                guard isChosen else {
                    requests[index].end(name, .untouched)
                    continue
                }
                requests[index].undecided.remove(name)
                requests[index].chosen.insert(name)
                guard !renewal.deliverOnly, let client = self.index[name] else { continue }
                // A client that cannot mint reads its source again.
                if client.entry.source == nil {
                    clients[client].secret.force(skipsVerification: renewal.skipVerify)
                } else {
                    observeAgain(at: .source(name))
                }
            }
            if let failure = clock.failure ?? configurationWatch.restraint, !renewal.deliverOnly {
                deny(&requests[index], failure)
            }
        }
        waiting.replace(requests)
    }

    /// Withdraws a request to mint, after the answer that nothing is minted because of the clock or the configuration. No new
    /// secret may appear hours later, when the request is forgotten.
    private mutating func deny(_ request: inout PendingRequest, _ failure: Failure) {
        for name in request.chosen {
            guard let client = index[name], clients[client].secret.isForced, !jobs.isBusy(.client(name)) else {
                continue
            }
            let since = request.since
            let earlier = failures(of: client, where: { $0.job >= since }).first
            request.end(name, .failed((earlier ?? failure).message))
            clients[client].secret.withdrawRequest()
            touch(client)
        }
    }

    /// Whether a request to renew applies to each of these clients, without those of which too little is known.
    private func choose(
        among names: Set<ClientName>, _ renewal: DaemonRequest.Renewal, since job: JobID, at now: Now
    ) -> [ClientName: Bool] {
        let together = names.isEmpty || renewal.dueWithin == nil ? [] : renewedTogether(index.all, at: now)
        return names.reduce(into: [:]) { found, name in
            found[name] = index[name].flatMap { isChosen($0, renewal, since: job, at: now, together) }
        }
    }

    /// Whether a request applies to a client; nil while that is not known yet.
    private func isChosen(
        _ client: ConfiguredClient, _ renewal: DaemonRequest.Renewal, since job: JobID, at now: Now,
        _ together: Set<ClientName>
    ) -> Bool? {
        if renewal.deliverOnly {
            guard isKnown(client), !jobs.isBusy(.client(client.name)),
                client.files.allSatisfy({ wasSeen($0, since: job) })
            else { return nil }
            return !isInPlace(client) || client.targets.contains { !isGood($0.target) }
                || !actionsToRepeat(of: client).isEmpty
        }
        guard let span = renewal.dueWithin else { return true }
        // A distrusted clock cannot tell what is due: choose the client, so that its answer gives the clock as reason.
        if clock.failure != nil { return true }
        guard isKnown(client) else { return nil }
        return switch WakeTimer.peek(at: now, { decide(client, together, &$0) }) {
        case .wait: nil
        case .keep(_, let until): until <= now.wall + span
        case .mint, .receive, .verify: true
        }
    }

    /// The actions that a request to deliver runs again: those that have yet to run, and do not wait for their turn.
    func actionsToRepeat(of client: ConfiguredClient) -> [ActionID] {
        owedActions(of: client).filter { runs[$0]?.waitsFor == nil }
    }

    /// Whether a file was read back, is overdue, or has failed in this or a later job.
    private func wasSeen(_ path: AbsolutePath, since job: JobID) -> Bool {
        files.isFresh(path) || jobs.isOverdue(.file(path))
            || jobs.attempts[.file(path)].map { $0.job >= job } == true
    }

    /// Lets all work for a client be tried at once: the user who requests it may just have fixed the cause.
    private mutating func resetBackoff(_ client: ConfiguredClient, at now: Now) {
        for resource in resources(of: client) { jobs.want(resource, at: now) }
        for path in client.files {
            observeAgain(at: .file(path))
            files[path]?.drift.requestRepair()
        }
        for output in client.targets { targets[output.target]?.requestRepair() }
        jobs.want(.source(client.name), at: now)
        if index.hasStore { jobs.want(.store, at: now) }
        jobs.want(.share(client.name), at: now)
        clients[client].share?.limit.request()
        for key in client.keys { touch(.key(key.name)) }
        touch(client)
    }
}
