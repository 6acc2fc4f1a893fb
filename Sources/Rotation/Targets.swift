import AppleClientSecret
internal import Failures

/// What was put into each place behind an API, and what is to be put there.
///
/// - A target holds one client's secret. Clients do not become a batch because of a target, and neither a file, nor another
///   client, nor READY waits for one.
/// - A secret counts as published when the API said that it took it. The client's record keeps which one that was, so that a
///   start does not push it again; an API that shows what it holds is asked first.
/// - Just after a write an API may still show what was there before. What contradicts a write counts only once it has been
///   shown for five minutes; until then the API is read each minute.
/// - A target that can be read back is read once an hour. One that was changed is pushed again, and is contested when that
///   goes on (`Drift`).
/// - An API that asks to be left alone for a while is, but for an hour at most where it said so to a read, or while the
///   secret that lies there is critical.
/// - Targets with members of one document are asked one after another, and the first write carries the secrets of all, so
///   that the document is written once; the others find theirs there.
/// - One job runs for a target at a time: a secret that is replaced meanwhile is pushed next, never an older one after a
///   newer.
/// - Actions wait for a push that runs, and not for one that fails: then they run once more when it has succeeded.
struct Targets: Sendable {
    private var states: [TargetName: State] = [:]

    /// How often what a target shows is read back; up to a quarter of it earlier, so that not all are read at once.
    static let readingPace: Seconds = 3600
    /// For so long after a write what an API shows may be older than that: Supabase was seen to take a minute and a half.
    static let staleness: Seconds = 300
    /// How often the API is read meanwhile.
    static let stalePace: Seconds = 60

    struct State: Sendable {
        let output: PushOutput
        /// What was last put there, as far as is known.
        fileprivate(set) var pushed: SecretInfo?
        /// Whether the API showed it when it was last asked; nil where it shows nothing, or was not asked yet.
        fileprivate(set) var verified: Bool?
        /// Whether the API shows something else since it took the secret, and that may be older.
        fileprivate var isAwaited = false
        /// When the API took the secret; nil where that was before the start.
        fileprivate var pushedAt: BootTime?
        /// Whether the API has shown a secret since the start. One that does, and then shows nothing that can be recognised,
        /// holds another one.
        fileprivate var wasShown = false
        /// Whether a push has failed since the last one that did not: it may have been carried out all the same.
        fileprivate var isUncertain = false
        /// When the API was last asked since the start, the last reload or the last request.
        fileprivate var askedAt: BootTime?
        fileprivate(set) var writtenAt: WallTime?
        // Read once an hour, so what is repaired each time must be remembered for longer than a file's repairs.
        fileprivate(set) var drift = Drift(memory: 21_600, contestedPace: 3600)

        /// Whether this secret was put there, and nothing else has been seen there since.
        func holds(_ secret: SecretInfo) -> Bool {
            !isUncertain && verified != false && pushed?.isSame(as: secret) == true
        }

        /// Whether the secret was put there so recently that the API may not show it yet. A secret is never older there than it
        /// is itself.
        fileprivate func isRecent(at now: Now) -> Bool {
            if let pushedAt { return now.boot < pushedAt + Targets.staleness }
            guard let pushed else { return false }
            return now.wall < pushed.issuedAt + Claims.backdating + Targets.staleness
        }

        /// What is known to be there; after a push that failed, and perhaps did not, what was there before.
        var known: SecretInfo? { verified == false ? nil : pushed }
    }

    // MARK: What is

    subscript(_ target: TargetName) -> State? { states[target] }

    /// What was last put into a client's targets, for its record.
    func pushed(of client: Subject) -> [PushOutput: SecretInfo] {
        client.targets.reduce(into: [:]) { all, output in
            if let pushed = states[output.target]?.pushed { all[output] = pushed }
        }
    }

    // MARK: What happens

    mutating func adopt(_ index: Index) {
        let before = states
        states = [:]
        for output in index.subjects.values.flatMap(\.targets) {
            var state = before[output.target] ?? State(output: output)
            if state.output != output { state = State(output: output) }
            state.askedAt = nil
            states[output.target] = state
        }
    }

    /// Takes what a client's record says. When the state directory answers late, what was pushed meanwhile is newer.
    mutating func recall(_ record: Record) {
        for (output, pushed) in record.pushed {
            guard let state = states[output.target], state.output == output, state.pushed == nil else { continue }
            states[output.target]?.pushed = pushed
            states[output.target]?.drift.presume([.whole: pushed.fingerprint])
        }
    }

    /// Has a target read again, and put in order at once if it is contested: the user may just have stopped what
    /// changed it.
    mutating func ask(_ target: TargetName) {
        states[target]?.askedAt = nil
        states[target]?.drift.ask()
    }

    /// Records that the API took a secret. Returns whether the actions have to run again because something else was
    /// there meanwhile.
    fileprivate mutating func pushed(
        _ secret: SecretInfo, _ output: PushOutput, verified: Bool?, at now: Now
    ) -> Bool {
        guard var state = states[output.target], state.output == output else { return false }
        state.pushed = secret
        state.verified = verified == true ? true : nil
        state.isAwaited = verified == false || verified == nil && state.wasShown
        state.pushedAt = now.boot
        if verified == true { state.wasShown = true }
        state.isUncertain = false
        state.askedAt = now.boot
        state.writtenAt = now.wall
        // Since when something else was there is not known: somebody has read it.
        let wasRead = state.drift.wrote([.whole: secret.fingerprint], isBeingRead: true, at: now.boot)
        states[output.target] = state
        return wasRead
    }

    fileprivate mutating func pushFailed(_ output: PushOutput) {
        guard states[output.target]?.output == output else { return }
        states[output.target]?.isUncertain = true
    }

    fileprivate mutating func read(
        _ secret: SecretInfo, _ output: PushOutput, holds: Bool?, wanted: SecretInfo?, began: BootTime, at now: Now
    ) {
        guard var state = states[output.target], state.output == output, state.pushed == secret else { return }
        state.askedAt = now.boot
        let isRecent = state.isRecent(at: now)
        let holds = holds ?? (state.wasShown || state.isAwaited && isRecent ? false : nil)
        if holds == true { state.wasShown = true }
        state.isAwaited = holds == false && isRecent
        guard !state.isAwaited else {
            state.verified = nil
            states[output.target] = state
            return
        }
        state.verified = holds
        if secret == wanted {
            state.drift.see(isGood: holds != false, wanted: [.whole: secret.fingerprint], began: began, at: now.boot)
        }
        states[output.target] = state
    }

    func checkInvariants(_ index: Index) -> [String] {
        var broken: [String] = []
        if Set(states.keys) != Set(index.clientOfTarget.keys) { broken.append("other targets than are configured") }
        for (name, state) in states where (state.verified != nil || state.isAwaited) && state.pushed == nil {
            broken.append("target \(name) was read before anything was put there")
        }
        return broken
    }
}

extension Rotation {
    // MARK: What is

    mutating func targetFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch (job.work, result) {
        case (.push(let client, let secret, let output, _), .success(.pushed(let verified))):
            deliverNew(secret, to: client, in: output)
            if targets.pushed(secret, output, verified: verified, at: now) {
                deliverAgain(to: CollectionOfOne(client))
            }
            events.append(.pushed(output.target, client, secret, verified: verified))
        case (.push(_, _, let output, _), .failure): targets.pushFailed(output)
        case (.readTarget(let client, let secret, let output), .success(.targetRead(let holds))):
            targets.read(
                secret, output, holds: holds, wanted: wantedSecret(client), began: job.startedAt, at: now)
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
    }

    /// Has actions run again for a secret that they delivered before it came to this place.
    private mutating func deliverNew(_ secret: SecretInfo, to client: ClientName, in output: PushOutput) {
        guard let state = targets[output.target], state.output == output,
            state.drift.isNew([.whole: secret.fingerprint])
        else { return }
        deliverAgain(secret, to: client)
    }

    // MARK: What is wanted

    mutating func planTarget(_ target: TargetName, _ deadlines: inout Deadlines) {
        guard let client = index.clientOfTarget[target], let state = targets[target], records.isSettled(client),
            let wanted = wantedSecret(client)
        else { return }
        if !state.holds(wanted) {
            // The pause after an earlier Retry-After may be too long, now that the secret there is critical.
            if jobs.attempts[.target(target)] != nil, isEmergency(target, &deadlines) {
                jobs.capBackoff(of: .target(target), to: deadlines.now.boot + Retry.boundOfRest)
            }
            let neighbours = index.neighbours(of: target)
            if state.drift.mayWrite([.whole: wanted.fingerprint], &deadlines),
                !neighbours.contains(where: isAboutToChange)
            {
                start(
                    .push(client, wanted, to: state.output, with: secrets(for: neighbours)), on: .target(target),
                    &deadlines)
            }
            return
        }
        if let askedAt = state.askedAt {
            let early = Double(Targets.readingPace.count) / 4 * jobs.draw("read \(target)")
            let pace = state.isAwaited ? Targets.stalePace : Targets.readingPace - Seconds(Int64(early))
            guard state.isAwaited || state.verified != nil, deadlines.reached(askedAt + pace) else { return }
        }
        start(.readTarget(client, wanted, at: state.output), on: .target(target), &deadlines)
    }

    /// Whether a target is asked right now, or its client's secret is about to be replaced: what belongs into the same
    /// document waits until both can be written together.
    private func isAboutToChange(_ target: TargetName) -> Bool {
        guard let client = index.clientOfTarget[target] else { return false }
        return !isKnown(client)
            || [.target(target), .client(client), .record(client)].contains { jobs[$0] != nil && !jobs.isOverdue($0) }
    }

    /// What these targets should hold.
    private func secrets(for targets: [TargetName]) -> [TargetName: SecretInfo] {
        targets.reduce(into: [:]) { all, target in
            all[target] = index.clientOfTarget[target].flatMap { wantedSecret($0) }
        }
    }

    /// Whether a target holds its client's secret, as far as is known.
    package func isGood(_ target: TargetName) -> Bool {
        guard let client = index.clientOfTarget[target], let wanted = wantedSecret(client) else { return false }
        return targets[target]?.holds(wanted) == true
    }

    /// Whether a target does not hold its client's secret, and what is known to be there is critical or has expired.
    func isEmergency(_ target: TargetName, _ deadlines: inout Deadlines) -> Bool {
        guard let client = index.clientOfTarget[target], let subject = index.subjects[client],
            let wanted = wantedSecret(client), let state = targets[target], !state.holds(wanted),
            let held = state.known
        else { return false }
        return deadlines.reached(held.expiresAt - subject.entry.criticalRemainder(of: held))
    }

    /// Whether none of a client's targets holds its actions back.
    func mayDeliver(past targets: [PushOutput], _ secret: SecretInfo) -> Bool {
        targets.allSatisfy { output in
            self.targets[output.target]?.holds(secret) == true || jobs.attempts[.target(output.target)] != nil
                || jobs.isOverdue(.target(output.target)) || jobs.isStopping
        }
    }

    /// Whether all pushes of a client's secret have succeeded or failed.
    func wasPushed(_ client: Subject) -> Bool {
        guard let wanted = wantedSecret(client) else { return false }
        return client.targets.allSatisfy { output in
            targets[output.target]?.holds(wanted) == true
                || jobs[.target(output.target)] == nil && jobs.attempts[.target(output.target)] != nil
        }
    }
}
