import AppleClientSecret
internal import Failures
package import Model

/// When places behind APIs are read and pushed to, and the results.
///
/// - A target holds one client's secret. Only targets with members of one document put their clients into one batch. No file,
///   no other client and not READY wait for a target.
/// - A secret counts as published when the API reports that it took it. The client's record keeps which secret that was, so
///   that a start does not push it again. An API that shows its content is asked first.
/// - Just after a write an API may still show the former content. A contradiction counts only once it has been shown for five
///   minutes. Until then the API is read each minute.
/// - An API that took a secret and has shown another one for those five minutes has failed (``FailureCode/pushNotKept``). Its
///   later answers are no success until it shows the secret. A single run waits for the first of these verdicts.
/// - A target that can be read back is read once an hour. A changed target is pushed again, and is contested when that
///   continues (`DriftRepairs`). One that is switched off has the secret, and is a warning.
/// - An API that asks for a pause gets it. The pause is an hour at most in answer to a read, or while the secret there is
///   critical or missing.
/// - Targets with members of one document are asked one after another. The first write carries the secrets of all, so that the
///   document is written once; the others find theirs there.
/// - One job runs for a target at a time. A secret that is replaced meanwhile is pushed next, never an older one after a newer.
/// - Actions wait for a running push for 30 seconds. They do not wait for a failing one, but run again when it has succeeded.
extension Rotation {
    // MARK: State

    /// Returns the failure in an answer; nil if there is none.
    mutating func targetFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) -> Failure? {
        switch (job.work, result) {
        case (.push(let name, let secret, let output, _), .success(.pushed(let reading))):
            let client = index[name]
            let wanted = client.flatMap { wantedSecret($0) }
            let cause = targets[output]?.recordPush(secret, reading, wanted: wanted, at: now)
            if let client, let cause { repeatActions(of: client, because: cause, at: now) }
            events.append(.pushed(output.target, name, secret, verified: reading.holds))
        case (.push(_, _, let output, _), .failure(let failure)):
            targets[output]?.pushFailed(holding: failure.placeContent)
        case (.readTarget(let name, let secret, let output), .success(.targetRead(let reading))):
            let wanted = index[name].flatMap { wantedSecret($0) }
            let isKept = targets[output]?.recordRead(secret, reading, wanted: wanted, at: now) != true
            return isKept ? nil : Failure(.pushNotKept, at: .target(output.target))
        case (_, .failure): break
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
        return nil
    }

    /// Whether an API took a secret a moment ago, and still shows another one.
    func awaitsTarget(at now: Now) -> Bool {
        index.clientOfTarget.keys.contains { targets[$0]?.sight == .awaited && !isGivenUp($0, at: now) }
    }

    // MARK: Plan

    /// How often a target is read back; up to a quarter of it earlier, so that not all are read at once.
    private static let readingInterval: Seconds = 3600
    /// How often it is read while it may still show an older value than the last one written.
    private static let staleInterval: Seconds = 60

    mutating func planTarget(_ target: TargetName, _ timer: inout WakeTimer) {
        guard let client = index.clientOfTarget[target], let state = targets[target], isSettled(client),
            let wanted = wantedSecret(client)
        else { return }
        if !state.holds(wanted) {
            shortenPause(of: .target(target), &timer)
            let neighbours = index.neighbours(of: target)
            if !state.isLeftAlone(wanted, &timer), !neighbours.contains(where: isAboutToChange) {
                jobs.start(
                    .push(client.name, wanted, to: state.output, with: secrets(for: neighbours)), on: .target(target),
                    &timer)
            }
            return
        }
        if let readAt = state.readAt {
            let next =
                state.sight == .awaited
                ? readAt + Self.staleInterval
                : readAt.after(Self.readingInterval, spreadBy: jobs.jitter("read \(target)"))
            guard state.isReadable, timer.reached(next) else { return }
        }
        jobs.start(.readTarget(client.name, wanted, at: state.output), on: .target(target), &timer)
    }

    /// Whether a target is asked right now, or its client's secret is about to be replaced. The other members of its document
    /// wait until all can be written together.
    private func isAboutToChange(_ target: TargetName) -> Bool {
        guard let client = index.clientOfTarget[target] else { return false }
        return !isKnown(client)
            || [.target(target), .client(client.name), .record(client.name)].contains(where: jobs.isBusy)
    }

    /// The secrets that these targets should hold.
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

    /// Whether a target does not hold its client's secret, and its known content is nothing, a critical or expired secret, or one
    /// that Apple refuses.
    func isEmergency(_ target: TargetName, _ timer: inout WakeTimer) -> Bool {
        guard let client = index.clientOfTarget[target], let wanted = wantedSecret(client),
            let state = targets[target], !state.holds(wanted)
        else { return false }
        if client.entry.lacksSecret(state.shown, wanted: wanted, clock: clock, &timer) { return true }
        guard let held = state.known else { return false }
        return mustBeReplaced(held, of: client, &timer)
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

    /// Whether nothing is pushed to a target now, or soon: it pauses after a failure, or is contested. After the pause it may
    /// still wait for another member of its document.
    func isGivenUp(_ target: TargetName, at now: Now) -> Bool {
        jobs[.target(target)] == nil && (jobs.isPausing(.target(target), at: now) || isLeftAlone(target, at: now))
    }

    /// Whether a target is bad and stays so for now, because another program keeps changing it. Its plan sets the wake.
    func isLeftAlone(_ target: TargetName, at now: Now) -> Bool {
        guard let wanted = index.clientOfTarget[target].flatMap({ wantedSecret($0) }), let state = targets[target]
        else { return false }
        return WakeTimer.peek(at: now) { state.isLeftAlone(wanted, &$0) }
    }
}
