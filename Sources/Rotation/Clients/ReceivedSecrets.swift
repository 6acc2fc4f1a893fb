import AppleClientSecret
internal import Failures
package import Model

/// How secrets are received.
///
/// - A source is a file, or the store (`StorePolling`), in which each of the client's keys has a place.
/// - A file is read at the start, after a reload, when asked, and after a change notice once the writer has finished.
/// - A secret is received if a configured public key signed it for the client's ids, its times are plausible, and it is
///   better than the current one (``Rotation/objection(to:over:_:_:)``).
/// - Absence proves nothing: a source that is missing, empty, older or wrong does not change the current secret.
extension Rotation {
    // MARK: State

    mutating func sourceFinished(_ job: Job, _ result: Result<Outcome, Failure>) {
        guard case .readSource(let name, let file) = job.work, let client = index[name],
            client.entry.source?.file == file
        else { return }
        switch result {
        case .success(.source(let observation)):
            if case .secret(let issued) = observation { clock.noteIssue(issued) }
            clients[client].source?.reading.end([observation], by: job.id)
        case .failure: clients[client].source?.reading.end(nil, by: job.id)
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    // MARK: Plan

    /// Reads the file from which a client receives its secrets.
    mutating func planSource(_ client: ConfiguredClient, _ timer: inout WakeTimer) {
        // Signatures can be checked only after the keys were read.
        if let file = client.entry.source?.file, wereKeysRead(client),
            clients[client].source?.reading.isDue(.input, &timer) == true,
            jobs.start(.readSource(client.name, file), on: .source(client.name), &timer)
        {
            clients[client].source?.reading.begin()
        }
    }

    /// The content of a source, and the secret in it that is to replace the current one.
    func judgeSource(
        of client: ConfiguredClient, over current: SecretInfo?, _ timer: inout WakeTimer
    ) -> (SourceView.State, detail: String?, offered: SecretInfo?) {
        guard !jobs.isOverdue(sourceResource(of: client)), let observed = clients[client].source?.reading.value else {
            return (.unreachable, nil, nil)
        }
        var best: SecretInfo?
        var seen: [SourceView.State: String?] = [:]
        for observation in observed {
            let (state, detail): (SourceView.State, String?)
            switch observation {
            case .missing: (state, detail) = (.missing, nil)
            case .absent(let words): (state, detail) = (.missing, words)
            case .refused: (state, detail) = (.unreachable, nil)
            case .foreign(let words): (state, detail) = (.wrong, words)
            case .secret(let issued):
                if let objection = objection(to: issued, for: client, &timer) {
                    // A secret that has merely expired was good once.
                    let isExpired = if case .expired = objection { true } else { false }
                    (state, detail) = (isExpired ? .stale : .wrong, "it \(objection.words)")
                } else if current?.isSame(as: issued) == true {
                    (state, detail) = (.current, nil)
                } else if let objection = objection(to: issued, over: best ?? current, client, &timer) {
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
        return (.missing, seen[.missing] ?? nil, nil)
    }

    /// The resource that reads a client's source.
    func sourceResource(of client: ConfiguredClient) -> Resource {
        client.entry.source?.isStore == true ? .store : .source(client.name)
    }

    /// The place of a client's source in messages.
    private func sourcePlace(_ source: SourceConfiguration) -> Failure.Place {
        source.path.map { .path($0) } ?? .store
    }

    // MARK: Reports

    /// The current secret of a client that receives its secrets; nil if the client's keys or ids have changed since. Then only its
    /// source can offer the next one.
    func receivedSecret(_ client: ConfiguredClient) -> SecretInfo? {
        clients[client].secret.current.flatMap { rank(of: $0, client) == nil ? nil : $0 }
    }

    /// Why a client's source is a reason not to be ok. Its content is wrong, or it offers nothing newer although there is no
    /// current secret, or that should have been replaced.
    func sourceReason(of client: ConfiguredClient, _ timer: inout WakeTimer) -> Reason? {
        guard let source = client.entry.source, let verdict = clients[client].source?.verdict else { return nil }
        var since = verdict.since
        let isRefused =
            source.isStore && verdict.state == .unreachable
            && sourceFailure(of: client)?.code.traits.contains(.refusalOfStore) == true
        if verdict.state != .wrong, !isRefused, let current = receivedSecret(client) {
            let due = renewal(of: current, client)
            let isDue = timer.reached(due)
            let isAway =
                source.isStore && verdict.state == .unreachable
                && timer.reached(verdict.began + Self.storeWaitOfFollowers)
            guard isDue || isAway else { return nil }
            since = max(since, isAway ? min(due, since + Self.storeWaitOfFollowers) : due)
        }
        guard let failure = sourceFailure(of: client) ?? overdue(client, source) else { return nil }
        let next = jobs.attempts[sourceResource(of: client)]?.notBefore
        return Reason(
            failure: failure, client: client.name, since: since,
            nextAttempt: next.flatMap { upcoming($0, timer.now) })
    }

    /// The failure of a source without an acceptable secret, or without one that may be received now; nil if it holds the
    /// current secret.
    func sourceFailure(of client: ConfiguredClient) -> Failure? {
        guard let source = client.entry.source, let verdict = clients[client].source?.verdict else { return nil }
        let place = sourcePlace(source)
        let remedy = source.isStore ? Self.storeRemedy : nil
        switch verdict.state {
        case .current: return verdict.isWithheld ? configurationWatch.restraint : nil
        case .stale: return Failure(.sourceStale, at: place, detail: verdict.detail, remedy: remedy)
        case .wrong: return Failure(.sourceWrong, at: place, detail: verdict.detail, remedy: remedy)
        case .missing: return Failure(.sourceMissing, at: place, detail: verdict.detail, remedy: remedy)
        case .unreachable where source.isStore:
            return storeFailure(of: client) ?? Failure(.storeUnreachable, at: place)
        case .unreachable:
            return overdueFailure(of: .source(client.name)) ?? jobs.attempts[.source(client.name)]?.failure
                ?? Failure(.sourceUnreadable, at: place)
        }
    }

    private static let storeRemedy = Remedy.say(
        "check on the machine with the private key whether it reaches the store, and whether public_key here is that key's"
    )

    /// The source holds the current secret, which should have been replaced.
    private func overdue(_ client: ConfiguredClient, _ source: SourceConfiguration) -> Failure? {
        guard let current = receivedSecret(client) else { return nil }
        return Failure(
            .sourceStale, at: sourcePlace(source),
            detail: "renewal was due at \(renewal(of: current, client))",
            remedy: source.isStore ? Self.storeRemedy : nil)
    }

    /// A client's source as the status document shows it; nil for a client that mints.
    func sourceView(of client: ConfiguredClient, at now: Now) -> SourceView? {
        guard let source = client.entry.source else { return nil }
        let verdict = clients[client].source?.verdict
        return SourceView(
            kind: source.isStore ? "store" : "path",
            place: source.path?.description ?? configuration.store?.place ?? "", state: verdict?.state ?? .unreachable,
            since: verdict?.since ?? now.wall)
    }

    /// The failures of all sources without an acceptable secret, by client.
    package var sourceFailures: [ClientName: Failure] {
        index.all.reduce(into: [:]) { all, client in all[client.name] = sourceFailure(of: client) }
    }
}
