import AppleClientSecret
internal import Failures
package import Model

/// A place behind an API: what was put there, and what the API shows of it.
struct Target: Sendable {
    let output: PushOutput
    /// What was last put there, as far as is known.
    private(set) var pushed: SecretInfo?
    /// Whether the API showed it when it was last asked; nil where it shows nothing, or was not asked yet.
    private(set) var verified: Bool?
    /// Whether the API took the secret and does not show it yet: for five minutes that counts as an answer from before.
    private(set) var isAwaited = false
    /// When the API took the secret; nil where that was before the start.
    private var pushedAt: BootTime?
    /// Whether the API has shown a secret since the start. One that does, and then shows nothing that can be recognised,
    /// holds another one.
    private var wasShown = false
    /// Whether a push has failed since the last one that did not: it may still have been carried out.
    private var isUncertain = false
    /// Whether the API has shown that there is nothing.
    private(set) var isEmpty = false
    /// When the API was last read or written since the start, the last reload or the last request.
    private(set) var readAt: BootTime?
    private(set) var writtenAt: WallTime?
    // Read once an hour, so what is repaired each time must be remembered for longer than a file's repairs.
    private(set) var drift = Drift(memory: 21_600, contestedInterval: 3600)

    /// How often what a target shows is read back; up to a quarter of it earlier, so that not all are read at once.
    static let readingInterval: Seconds = 3600
    /// For so long after a write what an API shows may be older than that: Supabase was seen to take a minute and a half.
    private static let staleness: Seconds = 300
    /// How often the API is read meanwhile.
    static let staleInterval: Seconds = 60

    init(_ output: PushOutput) { self.output = output }

    // MARK: What is

    /// Whether this secret was put there, and nothing else has been seen there since.
    func holds(_ secret: SecretInfo) -> Bool { !isUncertain && verified != false && pushed?.isSame(as: secret) == true }

    /// The secret that is believed to be there; nil when the API shows another, or none. After a push that failed still the one before,
    /// although the push may have been carried out.
    var known: SecretInfo? { verified == false || isEmpty ? nil : pushed }

    /// Whether it does not hold a secret and is left so for now, because it is contested.
    func isLeftAlone(_ wanted: SecretInfo, _ deadlines: inout Deadlines) -> Bool {
        !holds(wanted) && drift.isLeftAlone([.whole: wanted.fingerprint], &deadlines)
    }

    /// Whether the secret was put there so recently that the API may not show it yet. A secret is never older there than it
    /// is itself.
    private func isRecent(at now: Now) -> Bool {
        if let pushedAt { return now.boot < pushedAt + Self.staleness }
        guard let pushed else { return false }
        return now.wall < pushed.mintedAt + Self.staleness
    }

    // MARK: What happens

    /// Has it read again.
    mutating func readAgain() { readAt = nil }

    /// Has it read again, and put in order at once if it is contested: the user may just have stopped what changed it.
    mutating func requestRepair() {
        readAt = nil
        drift.requestRepair()
    }

    /// Takes what a client's record says. When the state directory answers late, what was pushed meanwhile is newer.
    mutating func recall(_ secret: SecretInfo) {
        guard pushed == nil else { return }
        pushed = secret
        drift.presume([.whole: secret.fingerprint])
    }

    /// Records that the API took a secret. Returns whether something else was there meanwhile.
    mutating func recordPush(_ secret: SecretInfo, verified: Bool?, at now: Now) -> Bool {
        pushed = secret
        self.verified = verified == true ? true : nil
        isAwaited = verified == false || verified == nil && wasShown
        pushedAt = now.boot
        if verified == true { wasShown = true }
        isUncertain = false
        isEmpty = false
        readAt = now.boot
        writtenAt = now.wall
        // Since when something else was there is not known: an application may have read it.
        return drift.wrote([.whole: secret.fingerprint], isBeingRead: true, at: now.boot)
    }

    /// - Parameter isEmpty: whether the API showed before that there is nothing; nil where that is not known.
    mutating func pushFailed(isEmpty: Bool?) {
        isUncertain = true
        self.isEmpty = isEmpty ?? self.isEmpty
    }

    /// Records what the API shows.
    ///
    /// - Parameters:
    ///   - secret: what was looked for.
    ///   - holds: whether it is there; nil where the API does not show it.
    ///   - wanted: what is to be there now.
    /// - Returns: whether it took that and never showed it, for so long that it does not keep it.
    mutating func recordRead(
        _ secret: SecretInfo, holds: Bool?, wanted: SecretInfo?, began: BootTime, at now: Now
    ) -> Bool {
        guard pushed == secret else { return false }
        readAt = now.boot
        let isRecent = isRecent(at: now)
        let holds = holds ?? (wasShown || isAwaited && isRecent ? false : nil)
        if holds == true { (wasShown, isEmpty) = (true, false) }
        let wasAwaited = isAwaited
        isAwaited = holds == false && isRecent
        verified = isAwaited ? nil : holds
        if !isAwaited, secret == wanted {
            drift.see(isGood: holds != false, wanted: [.whole: secret.fingerprint], began: began, at: now.boot)
        }
        return wasAwaited && verified == false && secret == wanted
    }

    func checkInvariants() -> [String] {
        (verified != nil || isAwaited) && pushed == nil ? ["it was read before anything was put there"] : []
    }
}

/// The places behind APIs that secrets are put into.
struct Targets: Sendable {
    private var all: [TargetName: Target] = [:]

    subscript(_ target: TargetName) -> Target? {
        _read { yield all[target] }
        _modify { yield &all[target] }
    }

    /// The target at this place; nil where a reload has changed where it leads.
    subscript(_ output: PushOutput) -> Target? {
        get { all[output.target].flatMap { $0.output == output ? $0 : nil } }
        set { if all[output.target]?.output == output { all[output.target] = newValue } }
    }

    mutating func adopt(_ index: ConfigurationIndex) {
        let former = all
        all = [:]
        for output in index.all.flatMap(\.targets) {
            var target = former[output.target] ?? Target(output)
            if target.output != output { target = Target(output) }
            target.readAgain()
            all[output.target] = target
        }
    }

    /// Takes what a client's record says.
    mutating func recall(_ record: Record) {
        for (output, pushed) in record.pushed { self[output]?.recall(pushed) }
    }

    /// What was last put into a client's targets, for its record.
    func pushed(of client: ConfiguredClient) -> [PushOutput: SecretInfo] {
        client.targets.reduce(into: [:]) { all, output in
            if let pushed = self.all[output.target]?.pushed { all[output] = pushed }
        }
    }

    func checkInvariants(_ index: ConfigurationIndex) -> [String] {
        (Set(all.keys) == Set(index.clientOfTarget.keys) ? [] : ["other targets than are configured"])
            + all.flatMap { name, target in target.checkInvariants().map { "target \(name): \($0)" } }
    }
}

/// - A target holds one client's secret. Only targets with members of one document make their clients a batch. Neither a file,
///   nor another client, nor READY waits for a target.
/// - A secret counts as published when the API said that it took it. The client's record keeps which one that was, so that a
///   start does not push it again; an API that shows what it holds is asked first.
/// - Just after a write an API may still show what was there before. What contradicts a write counts only once it has been
///   shown for five minutes; until then the API is read each minute.
/// - An API that took a secret and has shown another one for those five minutes has failed (``FailureCode/pushNotKept``). What
///   it says then is no success until it shows the secret. A single run waits for the first of these verdicts.
/// - A target that can be read back is read once an hour. One that was changed is pushed again, and is contested when that
///   goes on (`Drift`).
/// - An API that asks to be left alone for a while is, but for an hour at most where it said so to a read, or while the
///   secret that is there is critical or there is none.
/// - Targets with members of one document are asked one after another, and the first write carries the secrets of all, so
///   that the document is written once; the others find theirs there.
/// - One job runs for a target at a time: a secret that is replaced meanwhile is pushed next, never an older one after a
///   newer.
/// - Actions wait for a push that runs, for 30 seconds, and not for one that fails: then they run once more when it has
///   succeeded.
extension Rotation {
    // MARK: What is

    /// Returns the failure that an answer is; nil where it is none.
    mutating func targetFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) -> Failure? {
        switch (job.work, result) {
        case (.push(let name, let secret, let output, _), .success(.pushed(let verified))):
            let client = index[name]
            // Actions have delivered the secret before it came to this place.
            if let client, targets[output]?.drift.isNew([.whole: secret.fingerprint]) == true {
                repeatActions(of: client, because: .cameToTarget(secret), at: now)
            }
            if targets[output]?.recordPush(secret, verified: verified, at: now) == true, let client {
                repeatActions(of: client, because: .wasAtTarget, at: now)
            }
            events.append(.pushed(output.target, name, secret, verified: verified))
        case (.push(_, _, let output, _), .failure(let failure)):
            targets[output]?.pushFailed(isEmpty: failure.isPlaceEmpty)
        case (.readTarget(let name, let secret, let output), .success(.targetRead(let holds))):
            let wanted = index[name].flatMap { wantedSecret($0) }
            let isKept =
                targets[output]?.recordRead(secret, holds: holds, wanted: wanted, began: job.startedAt, at: now) != true
            return isKept ? nil : Failure(.pushNotKept, at: .target(output.target))
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
        return nil
    }

    /// Whether an API took a secret a moment ago, and shows another one until now.
    func awaitsTarget(at now: Now) -> Bool {
        index.clientOfTarget.keys.contains { targets[$0]?.isAwaited == true && !isGivenUp($0, at: now) }
    }

    // MARK: What is wanted

    mutating func planTarget(_ target: TargetName, _ deadlines: inout Deadlines) {
        guard let client = index.clientOfTarget[target], let state = targets[target], clients[client].isSettled,
            let wanted = wantedSecret(client)
        else { return }
        if !state.holds(wanted) {
            if let failure = jobs.attempts[.target(target)]?.failure, failure.retryAfter != nil,
                isEmergency(target, &deadlines)
            {
                jobs.retry(.target(target), on: .emergency(failure), at: deadlines.now)
            }
            let neighbours = index.neighbours(of: target)
            if !state.isLeftAlone(wanted, &deadlines), !neighbours.contains(where: isAboutToChange) {
                start(
                    .push(client.name, wanted, to: state.output, with: secrets(for: neighbours)), on: .target(target),
                    &deadlines)
            }
            return
        }
        if let readAt = state.readAt {
            let next =
                state.isAwaited
                ? readAt + Target.staleInterval
                : readAt.after(Target.readingInterval, spreadBy: jobs.jitter("read \(target)"))
            guard state.isAwaited || state.verified != nil, deadlines.reached(next) else { return }
        }
        start(.readTarget(client.name, wanted, at: state.output), on: .target(target), &deadlines)
    }

    /// Whether a target is asked right now, or its client's secret is about to be replaced: what belongs into the same
    /// document waits until both can be written together.
    private func isAboutToChange(_ target: TargetName) -> Bool {
        guard let client = index.clientOfTarget[target] else { return false }
        return !isKnown(client)
            || [.target(target), .client(client.name), .record(client.name)].contains(where: jobs.isBusy)
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

    /// Whether a target does not hold its client's secret, and what is known to be there is critical or has expired, or there is
    /// nothing.
    func isEmergency(_ target: TargetName, _ deadlines: inout Deadlines) -> Bool {
        guard let client = index.clientOfTarget[target], let wanted = wantedSecret(client),
            let state = targets[target], !state.holds(wanted)
        else { return false }
        if state.isEmpty { return true }
        guard let held = state.known else { return false }
        return client.entry.isCritical(held, &deadlines)
    }

    /// Whether none of a client's targets holds its actions back.
    func mayDeliver(past targets: [PushOutput], _ secret: SecretInfo, at now: Now) -> Bool {
        targets.allSatisfy { output in
            self.targets[output.target]?.holds(secret) == true || isLeftAlone(output.target, at: now)
                || jobs.failsOrIsOverdue(.target(output.target)) || jobs.isStopping
        }
    }

    /// Whether all pushes of a client's secret have succeeded or failed.
    func wasPushed(_ client: ConfiguredClient, at now: Now) -> Bool {
        guard let wanted = wantedSecret(client) else { return false }
        return client.targets.allSatisfy { targets[$0.target]?.holds(wanted) == true || isGivenUp($0.target, at: now) }
    }

    /// Whether nothing is pushed to a target now, nor will be soon: the last push failed, or it is left alone.
    func isGivenUp(_ target: TargetName, at now: Now) -> Bool {
        jobs[.target(target)] == nil && (jobs.attempts[.target(target)] != nil || isLeftAlone(target, at: now))
    }

    /// Whether a target is bad and is left so for now, because another program keeps changing it. Its plan sets the wake.
    func isLeftAlone(_ target: TargetName, at now: Now) -> Bool {
        guard let wanted = index.clientOfTarget[target].flatMap({ wantedSecret($0) }), let state = targets[target]
        else { return false }
        return Deadlines.peek(at: now) { state.isLeftAlone(wanted, &$0) }
    }
}
