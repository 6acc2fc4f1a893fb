import AppleClientSecret
internal import Failures

/// What the sources hold from which clients without a private key receive their secrets, and which of these are accepted.
///
/// - A source is a file, or the store (`StoreReading`), in which each of the client's keys has a place.
/// - A file is read at the start, after a reload, when asked, and after a change notice once nobody writes any more.
/// - Received is a secret that a configured public key signed for the client's ids, with possible times, not expired,
///   greater than the current one, and with more life left than is critical for the longer-lived of both, or than the
///   current one has. An expired current secret yields to any that is valid.
/// - Greater is, of one key, what was issued later, then what has the greater digest of the signing input. Of two keys the
///   one that the configuration names first wins whenever it was issued, unless its secret is critical.
/// - Absence says nothing: a source that is gone, empty, older or wrong changes nothing that is in force.
struct Sources: Sendable {
    private var states: [ClientName: State] = [:]

    struct State: Sendable {
        /// What the last read found, of a file one thing; nil before the first one and after one that failed.
        fileprivate(set) var observed: [SourceObservation]?
        /// The job that read the source last, successfully or not, under this configuration.
        fileprivate var readBy: JobID?
        /// What jobs before this one read does not count.
        fileprivate var countsFrom: JobID
        /// Change notices since the last read began.
        fileprivate var debounce: Debounce?
        fileprivate(set) var verdict: Verdict?
    }

    /// How a source compares with the secret in force.
    struct Verdict: Hashable, Sendable {
        let state: SourceView.State
        /// Why it is not received, in words; none of the source's bytes.
        let detail: String?
        /// Since when the source has been in this state.
        let since: WallTime
    }

    // MARK: What is

    subscript(_ client: ClientName) -> State? { states[client] }

    /// Every secret that was seen in a source.
    var allSecrets: [SecretInfo] {
        states.values.flatMap { $0.observed ?? [] }.compactMap {
            if case .secret(let issued) = $0 { issued } else { nil }
        }
    }

    /// Whether reading it was tried since the start or the last reload.
    func isKnown(_ client: ClientName) -> Bool { states[client]?.readBy != nil }

    /// Whether it was read, successfully or not, since a read was last wanted.
    func wasRead(_ client: ClientName) -> Bool {
        guard let state = states[client], let readBy = state.readBy else { return false }
        return readBy >= state.countsFrom
    }

    // MARK: What happens

    mutating func adopt(_ configuration: Configuration, _ old: Configuration, next: JobID) {
        let before = states
        states = [:]
        for (name, client) in configuration.clients where client.source != nil {
            var state = State(countsFrom: next)
            if old.clients[name]?.source == client.source {
                state.observed = before[name]?.observed
                state.verdict = before[name]?.verdict
            }
            states[name] = state
        }
    }

    mutating func notice(_ client: ClientName, at now: Now) {
        let debounce = Debounce(states[client]?.debounce, at: now.boot)
        states[client]?.debounce = debounce
    }

    /// Has the source read again, also if a job before `next` is reading it now: that may have missed a change.
    mutating func readAgain(_ client: ClientName, next: JobID) {
        states[client]?.countsFrom = next
    }

    mutating func read(_ client: ClientName, _ observed: [SourceObservation]?, by job: JobID) {
        states[client]?.readBy = job
        states[client]?.observed = observed
    }

    /// Whether to read the source now.
    fileprivate func isDue(_ client: ClientName, _ deadlines: inout Deadlines) -> Bool {
        guard let state = states[client] else { return false }
        guard wasRead(client) else { return true }
        if state.debounce?.isReadable(&deadlines) == false { return false }
        return state.observed == nil || state.debounce != nil
    }

    fileprivate mutating func beginReading(_ client: ClientName) {
        states[client]?.debounce = nil
    }

    /// Records what was made of a source; returns the state before.
    fileprivate mutating func judged(
        _ client: ClientName, _ state: SourceView.State, _ detail: String?, at now: Now
    ) -> SourceView.State? {
        let before = states[client]?.verdict
        let since = before?.state == state ? before?.since : nil
        states[client]?.verdict = Verdict(state: state, detail: detail, since: since ?? now.wall)
        return before?.state
    }

    func checkInvariants(_ configuration: Configuration, next: JobID) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(configuration.clients.filter { $0.value.source != nil }.keys) {
            broken.append("other sources than are configured")
        }
        for (name, state) in states where state.countsFrom > next || state.readBy.map({ $0 >= next }) == true {
            broken.append("the source of \(name) was read by a job that never began")
        }
        return broken
    }
}

extension Rotation {
    // MARK: What is

    mutating func sourceFinished(_ job: Job, _ result: Result<Outcome, Failure>) {
        guard case .readSource(let client, let file) = job.work,
            index.subjects[client]?.entry.source?.file == file
        else { return }
        switch result {
        case .success(.source(let observation)):
            if case .secret(let issued) = observation { clock.noteIssue(issued) }
            sources.read(client, [observation], by: job.id)
        case .failure: sources.read(client, nil, by: job.id)
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    /// Why a secret that could be in force does not replace the current one; nil when it does.
    private func objection(
        to issued: SecretInfo, over current: SecretInfo?, _ client: Subject, _ deadlines: inout Deadlines
    ) -> String? {
        // What has expired, or Apple refuses because a wrong clock made it, keeps nothing away.
        guard let current, let held = rank(of: current, client), let offered = rank(of: issued, client),
            !deadlines.reached(current.expiresAt), refusal(of: current, for: client, &deadlines) == nil
        else { return nil }
        // Of two lives the longer one says what too soon is: an hour to live is nothing where 80 days are left.
        let critical = max(client.entry.criticalRemainder(of: issued), client.entry.criticalRemainder(of: current))
        if issued.expiresAt <= current.expiresAt, deadlines.reached(issued.expiresAt - critical) {
            return "it expires too soon, at \(issued.expiresAt)"
        }
        if offered == held {
            return issued.isGreater(than: current) ? nil : "it is older than the one in force"
        }
        if offered > held,
            !deadlines.reached(current.expiresAt - client.entry.criticalRemainder(of: current))
        {
            return "a key that is preferred has signed the one in force"
        }
        return nil
    }

    // MARK: What is wanted

    /// Plans a client that receives its secrets: reads its source, and puts in force what is acceptable.
    mutating func planReceiver(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        guard let source = client.entry.source, let state = renewal[name] else { return }
        // Signatures can be checked only after the keys were read.
        if let file = source.file, wereKeysRead(client), sources.isDue(name, &deadlines),
            start(.readSource(name, file), on: .source(name), &deadlines)
        {
            sources.beginReading(name)
        }
        guard isKnown(client) else { return planRecall(name, &deadlines) }
        presumeDelivered(client, state)
        if !state.hasChosen { takeUp(client, state, at: deadlines.now) }
        receive(client, &deadlines)
    }

    /// Puts the best secret in force that the state directory and the outputs hold.
    private mutating func takeUp(_ client: Subject, _ state: Renewal.State, at now: Now) {
        var candidates = [state.current].compactMap { $0 }
        for place in client.places {
            let observed = destinations[place.path]?.observed?.slots ?? [:]
            candidates += place.slots.compactMap { observed[$0]?.issued }
        }
        // When the candidates expire is no reason to wake.
        var deadlines = Deadlines(now: now)
        let ranked = candidates.compactMap { issued in rank(of: issued, client).map { (rank: $0, issued: issued) } }
            .sorted {
                (-$0.rank, $0.issued.issuedAt, $0.issued.order) < (-$1.rank, $1.issued.issuedAt, $1.issued.order)
            }
        var best: SecretInfo?
        for (_, issued) in ranked
        where fits(issued, client, &deadlines) && objection(to: issued, over: best, client, &deadlines) == nil {
            best = issued
        }
        guard let best else { return }
        renewal.choose(best, client.name)
        events.append(.tookOver(client.name, best))
    }

    /// Judges what the source holds, and puts it in force if it is acceptable.
    private mutating func receive(_ client: Subject, _ deadlines: inout Deadlines) {
        let name = client.name
        let current = renewal[name]?.current
        let (state, detail, offered) = judgeSource(of: client, over: current, &deadlines)
        if let offered, mayReceive(client, &deadlines) {
            renewal.choose(offered, name)
            drawTurn(of: client, for: offered, at: deadlines.now)
            health.countReceived(name)
            events.append(.received(name, offered))
            _ = sources.judged(name, state, detail, at: deadlines.now)
            return
        }
        let before = sources.judged(name, state, detail, at: deadlines.now)
        // A read that fails or succeeds again is logged as any job.
        let isNews = state == .current ? before != nil && before != .unreachable : state != .unreachable
        if isNews, before != state { events.append(.sourceChanged(name, state, detail)) }
    }

    /// Whether a better secret may be put in force. By a distrusted clock the secret in force may seem to have expired;
    /// and no action runs under the configuration last adopted, so only what becomes critical is replaced.
    func mayReceive(_ client: Subject, _ deadlines: inout Deadlines) -> Bool {
        guard let state = renewal[client.name], state.hasChosen, let current = state.current else { return true }
        if clock.failure != nil { return false }
        return !configurationWatch.isRestrained
            || deadlines.reached(current.expiresAt - client.entry.criticalRemainder(of: current))
    }

    /// Why a secret must not be in force, and what that says of its source; nil where it may be. One that has merely expired
    /// was good once.
    private func problem(
        of issued: SecretInfo, _ client: Subject, _ deadlines: inout Deadlines
    ) -> (SourceView.State, detail: String?)? {
        do throws(Objection) {
            _ = try fitness(of: issued, for: client, &deadlines)
            return nil
        } catch {
            if case .expired = error { return (.stale, "it \(error.words)") }
            return (.wrong, "it \(error.words)")
        }
    }

    private func judgeSource(
        of client: Subject, over current: SecretInfo?, _ deadlines: inout Deadlines
    ) -> (SourceView.State, detail: String?, offered: SecretInfo?) {
        guard !jobs.isOverdue(sourceResource(of: client)), let observed = sources[client.name]?.observed else {
            return (.unreachable, nil, nil)
        }
        var best: SecretInfo?
        var seen: [SourceView.State: String?] = [:]
        for observation in observed {
            let (state, detail): (SourceView.State, String?)
            switch observation {
            case .missing: (state, detail) = (.missing, nil)
            case .refused: (state, detail) = (.unreachable, nil)
            case .foreign(let words): (state, detail) = (.wrong, words)
            case .secret(let issued):
                if let problem = problem(of: issued, client, &deadlines) {
                    (state, detail) = problem
                } else if current?.isSame(as: issued) == true {
                    (state, detail) = (.current, nil)
                } else if let objection = objection(to: issued, over: best ?? current, client, &deadlines) {
                    (state, detail) = (.stale, objection)
                } else {
                    best = issued
                    continue
                }
            }
            if seen[state] == nil { seen[state] = detail }
        }
        if let best { return (.current, nil, best) }
        // The state that needs an operator comes first. `missing` comes last: it matters only if no key's place holds a
        // secret.
        for state in [SourceView.State.wrong, .unreachable, .current, .stale] {
            if let detail = seen[state] { return (state, detail, nil) }
        }
        return (.missing, nil, nil)
    }

    /// What reads a client's source.
    func sourceResource(of client: Subject) -> Resource {
        client.entry.source?.isStore == true ? .store : .source(client.name)
    }

    /// Where a client's source is, for messages.
    private func sourcePlace(_ source: SourceConfiguration) -> Failure.Place {
        source.path.map { .path($0) } ?? .store
    }

    /// How long a follower does not report that the store is unreachable: a restarted etcd must not cause ten thousand
    /// alerts.
    private static let sourcePatience: Seconds = 86_400

    // MARK: What is reported

    /// Why a client's source is a reason not to be ok: what it holds is wrong, or nothing newer comes from it although
    /// the secret in force should have been replaced.
    func sourceReason(of client: Subject, _ deadlines: inout Deadlines) -> Reason? {
        guard let source = client.entry.source, let verdict = sources[client.name]?.verdict else { return nil }
        var since = verdict.since
        let isRefused =
            source.isStore && verdict.state == .unreachable
            && sourceFailure(of: client)?.code.traits.contains(.refusalOfStore) == true
        if verdict.state != .wrong, !isRefused, let current = renewal[client.name]?.current {
            var due = renewal(of: current, client.entry)
            if source.isStore, verdict.state == .unreachable { due = min(due, since + Self.sourcePatience) }
            guard deadlines.reached(due) else { return nil }
            since = max(since, due)
        }
        guard let failure = sourceFailure(of: client) ?? overdue(client, source) else { return nil }
        let next = jobs.attempts[sourceResource(of: client)]?.notBefore
        return Reason(
            failure: failure, client: client.name, since: since,
            nextAttempt: next.flatMap { upcoming($0, deadlines.now) })
    }

    /// The failure of a source that offers nothing acceptable; nil for one that holds the secret in force.
    func sourceFailure(of client: Subject) -> Failure? {
        guard let source = client.entry.source, let verdict = sources[client.name]?.verdict else { return nil }
        let place = sourcePlace(source)
        let remedy = source.isStore ? Self.storeRemedy : nil
        switch verdict.state {
        case .current: return nil
        case .stale: return Failure(.sourceStale, at: place, detail: verdict.detail, remedy: remedy)
        case .wrong: return Failure(.sourceWrong, at: place, detail: verdict.detail, remedy: remedy)
        case .missing: return Failure(.sourceMissing, at: place, remedy: remedy)
        case .unreachable where source.isStore:
            return storeFailure(of: client) ?? Failure(.storeUnreachable, at: place)
        case .unreachable:
            return hang(of: .source(client.name)) ?? jobs.lastFailure(of: .source(client.name))?.failure
                ?? Failure(.sourceUnreadable, at: place)
        }
    }

    private static let storeRemedy = Remedy.say(
        "see on the machine with the private key whether it reaches the store, and whose public_key stands here")

    /// The source holds the secret in force, which should have been replaced.
    private func overdue(_ client: Subject, _ source: SourceConfiguration) -> Failure? {
        guard let current = renewal[client.name]?.current else { return nil }
        return Failure(
            .sourceStale, at: sourcePlace(source),
            detail: "renewal was due at \(renewal(of: current, client.entry))",
            remedy: source.isStore ? Self.storeRemedy : nil)
    }

    /// What the status document says of a client's source; nil for a client that mints.
    func sourceView(of client: Subject, at now: Now) -> SourceView? {
        guard let source = client.entry.source else { return nil }
        let verdict = sources[client.name]?.verdict
        return SourceView(
            kind: source.isStore ? "store" : "path",
            place: source.path?.description ?? configuration.store?.place ?? "", state: verdict?.state ?? .unreachable,
            since: verdict?.since ?? now.wall)
    }

    /// The failures of all sources from which nothing acceptable comes, by client.
    package var sourceFailures: [ClientName: Failure] {
        index.names.reduce(into: [:]) { all, name in
            if let subject = index.subjects[name] { all[name] = sourceFailure(of: subject) }
        }
    }
}
