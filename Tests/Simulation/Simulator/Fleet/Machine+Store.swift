import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// How a machine's jobs on the store are carried out, and what the contract says of what they find.
extension Machine {
    /// A put that has reached the store.
    struct Put {
        let secret: SecretInfo
        /// What lay there before.
        let found: Noticeboard.Entry<Offer>?
        let isConflict: Bool
        /// Whether the machine is told what has come of it.
        let isAnswered: Bool
    }

    static func isOnStore(_ work: Work) -> Bool {
        switch work {
        case .readStore, .putInStore, .putRollout, .putReport, .readReports, .forgetReport: true
        default: false
        }
    }

    /// Where the secrets of a key lie.
    func place(of key: KeyName) -> StorePlace? {
        guard let entry = outside.configuration.keys[key], let print = outside.prints[key] else { return nil }
        return StorePlace(team: entry.team, client: clientID, key: print)
    }

    /// Where the secrets lie that it receives or puts there, in the order of preference.
    var places: [StorePlace] { entry.keys.compactMap(place) }

    // MARK: Work

    /// Carries out a job on the store.
    func carryOut(_ work: Work, on board: Noticeboard) -> Result<Outcome, Failure> {
        let wasPaused = link.isPaused(at: boot)
        let failureMode = link.failureMode
        if let failure = link.problem(at: boot, &random) {
            if case .readStore = work { loseContact() }
            // What is asked of a member that does not answer may be done all the same.
            if let wanted = wantedPut(of: work), !wasPaused, failureMode == .frozen, random.next() % 2 == 0 {
                put(wanted, on: board, isAnswered: false)
            }
            return .failure(failure)
        }
        switch work {
        case .readStore(let places): return read(places, on: board)
        case .putInStore, .putRollout: return tryToPut(work, on: board)
        case .putReport(let report, let machine, let revision):
            return put(report, as: machine, ifAt: revision, on: board)
        case .readReports(let clients):
            return .success(.reportsRead(board.reports.mapValues { observation($0, of: clients) }))
        case .forgetReport(let machine, let revision):
            if mistake != .neverForgetsReports { board.forget(machine, ifAt: revision, now: boot) }
            return .success(.reportForgotten)
        default: fatalError("\(work) is no work on the store")
        }
    }

    private func loseContact() {
        link.failed(at: boot)
        tell(.storeWatched(false))
    }

    private func read(_ places: [StorePlace], on board: Noticeboard) -> Result<Outcome, Failure> {
        var found: [StorePlace: Noticeboard.Entry<Offer>] = [:]
        var observed: [StorePlace: StoreObservation] = [:]
        for place in places {
            found[place] = board.places[place]
            observed[place] = link.isForbidden ? .forbidden : observation(board.places[place])
        }
        let rollouts = board.rollouts.filter { places.contains($0.key) }
        if link.read(found, rollouts, at: boot) { tell(.storeWatched(true)) }
        let observedRollouts =
            link.isForbidden
            ? observed.mapValues { _ in RolloutObservation.forbidden } : rollouts.mapValues(observation)
        return .success(.storeRead(observed, rollouts: observedRollouts))
    }

    private func observation(_ entry: Noticeboard.Entry<Offer>?) -> StoreObservation {
        guard let entry else { return .missing }
        switch entry.value {
        case .secret(let secret):
            outside.secretCache.insert(secret.fingerprint)
            guard case .secret(let issued) = outside.judged(.secret(secret)) else { return .missing }
            return .secret(issued, revision: entry.revision)
        case .junk, .unreadable: return .foreign("clientsecretd did not write it", revision: entry.revision)
        case .huge: return .foreign("it is longer than a secret", revision: entry.revision)
        }
    }

    /// What a job puts into the signers' place; nil for another job.
    private func wantedPut(of work: Work) -> Noticeboard.Put? {
        switch work {
        case .putInStore(_, let secret, let place, let revision):
            Noticeboard.Put(place: place, secret: SecretPut(secret, ifAt: revision))
        case .putRollout(_, let rollout, let place, let revision, let secret):
            Noticeboard.Put(place: place, secret: secret, rollout: (twisted(rollout), revision))
        default: nil
        }
    }

    private func tryToPut(_ work: Work, on board: Noticeboard) -> Result<Outcome, Failure> {
        guard let wanted = wantedPut(of: work) else { fatalError("\(work) puts nothing there") }
        if let secret = wanted.secret?.secret { outside.need(secret) }
        if link.isForbidden { return .failure(link.pause(.storeForbidden, at: boot, &random)) }
        switch link.puts {
        case .outOfSpace: return .failure(link.pause(.storeOutOfSpace, at: boot, &random))
        case .ambiguous:
            switch random.next() % 3 {
            case 0: put(wanted, on: board, isAnswered: false)
            case 1: board.putLate(wanted, moment: boot + Int64(random.next() % 10_000))
            default: break
            }
            return .failure(link.pause(.storeTimedOut, at: boot, &random))
        case nil: break
        }
        let revision = put(wanted, on: board, isAnswered: true)
        let entry = board.places[wanted.place]
        let rollout = board.rollouts[wanted.place]
        if wanted.secret != nil { link.see(entry, at: wanted.place, boot: boot) }
        if wanted.rollout != nil { link.see(rollout, at: wanted.place, boot: boot) }
        if case .putInStore = work {
            return .success(.putInStore(revision.map { .done(revision: $0) } ?? .conflict(observation(entry))))
        }
        return .success(
            .rolloutPut(
                revision.map { .done(revision: $0) }
                    ?? .found(rollout.map(observation), secret: wanted.secret == nil ? nil : observation(entry))))
    }

    /// Returns the revision of what was put; nil where something else was found.
    @discardableResult
    private func put(_ wanted: Noticeboard.Put, on board: Noticeboard, isAnswered: Bool) -> Int64? {
        let found = board.places[wanted.place]
        let foundRollout = board.rollouts[wanted.place]
        var compared = wanted
        if mistake == .putsWithoutCompare {
            compared.secret = wanted.secret.map { SecretPut($0.secret, ifAt: found?.revision ?? 0) }
        }
        if mistake == .raisesWithoutCompare {
            compared.rollout = wanted.rollout.map { ($0.value, foundRollout?.revision ?? 0) }
        }
        let revision = board.put(compared, now: boot)
        if let secret = wanted.secret?.secret {
            puts.append(Put(secret: secret, found: found, isConflict: revision == nil, isAnswered: isAnswered))
        }
        if let rollout = wanted.rollout?.value, revision != nil {
            noteRollout(rollout, at: wanted.place, over: foundRollout.map(observation))
        }
        return revision
    }

    private func put(
        _ report: MachineReport, as machine: String, ifAt revision: Int64, on board: Noticeboard
    ) -> Result<Outcome, Failure> {
        // Reading goes on.
        if link.mayNotReport { return .failure(Failure(.storeForbidden, at: .store)) }
        switch link.puts {
        case .outOfSpace: return .failure(Failure(.storeOutOfSpace, at: .store))
        case .ambiguous:
            if random.next() % 2 == 0 { _ = board.put(report, of: machine, instance, ifAt: revision, now: boot) }
            return .failure(link.pause(.storeTimedOut, at: boot, &random))
        case nil: break
        }
        if mistake == .losesReports { return .success(.reportPut(.done(revision: revision + 1))) }
        if let revision = board.put(report, of: machine, instance, ifAt: revision, now: boot) {
            reportedAt = boot
            return .success(.reportPut(.done(revision: revision)))
        }
        return .success(
            .reportPut(.found(board.reports[machine].map { observation($0, of: Set(report.clients.keys)) })))
    }

    private func observation(_ found: Noticeboard.Report, of clients: Set<ClientIdentity>) -> ReportObservation {
        var report = found.value
        report?.clients = found.value?.clients.filter { clients.contains($0.key) } ?? [:]
        return ReportObservation(
            revision: found.revision, report: report,
            isOwn: found.instance == instance && mistake != .knowsNoOwnReport)
    }

    // MARK: Changes

    /// A watch tells of changes, within a second.
    func hint(_ changed: Set<StorePlace>, on board: Noticeboard) {
        guard isAlive, link.isWatching, !link.isDeaf, link.failureMode == nil,
            let place = places.first(where: changed.contains)
        else { return }
        if mistake == .believesHints {
            switch board.places[place]?.value {
            case .secret(let secret): copyIntoOutputs(.secret(secret))
            case .junk, .huge, .unreadable: copyIntoOutputs(.foreign)
            case nil: break
            }
        }
        if mistake != .losesHints { tell(.changeNoticed(.store), within: 1000) }
    }

    // MARK: Faults

    func cutOff() {
        say("== does not reach the store")
        link.failureMode = .cut
        link.harm(at: boot)
        if link.isWatching { tell(.storeWatched(false), within: 5000) }
        link.unwatch()
    }

    /// Breaks something of its way to the store.
    func damageLink(_ change: (inout StoreLink) -> Void) {
        change(&link)
        link.harm(at: boot)
        say("== store: \(link.failureMode.map { "\($0)" } ?? "") \(link.puts.map { "\($0)" } ?? "")")
    }

    func fixLink() {
        let wasMute = link.isMute
        let wasFrozen = link.failureMode == .frozen
        guard link.fix(at: boot), isAlive, link.isWatching else { return }
        // A connection that was mute is replaced; of one that was merely silent comes what it owes.
        if wasMute {
            link.unwatch()
            tell(.storeWatched(false))
        } else if wasFrozen {
            tell(.changeNoticed(.store), within: 1000)
        }
    }

    // MARK: What is promised

    /// What is offered to it, and since when it can know.
    var offers: [(secret: SecretInfo, since: Int64)] {
        guard let board else {
            guard case .secret(let secret)? = outside.offer else { return [] }
            return [(secret, offeredAt)]
        }
        guard link.failureMode == nil, !link.isForbidden else { return [] }
        return places.compactMap { place in
            guard let entry = board.places[place], case .secret(let secret) = entry.value else { return nil }
            // A pause after failures lasts for five minutes at most, and what tells of no changes is asked every ten.
            let late: Int64 = link.isDeaf ? 360_000 : 0
            return (secret, max(entry.at + late, link.changedAt + 330_000, link.hearsSince))
        }
    }

    /// What the status should say of the store as a source.
    var expectedStoreState: SourceView.State {
        guard let seen = link.seen, !isReadOverdue else { return .unreachable }
        if link.sawForbidden { return .unreachable }
        var states: Set<SourceView.State> = []
        for place in places {
            switch seen[place]?.value {
            case nil: states.insert(.missing)
            case .junk, .huge, .unreadable: states.insert(.wrong)
            case .secret(let secret): states.insert(state(of: secret))
            }
        }
        // What somebody should look at comes first.
        return [.wrong, .current, .stale].first(where: states.contains) ?? .missing
    }

    /// Whether a read has been under way for so long that nothing waits for it.
    private var isReadOverdue: Bool { link.askedAt.map { boot - $0 >= 30_000 } ?? false }

    /// Whether the store is a reason for the client not to be ok; nil while it may be either.
    var isStoreReason: Bool? {
        guard board != nil else { return false }
        return isSigner ? isReasonToShare : isReasonToReceive
    }

    /// Whether a rollout that somebody has to look at is in the store, as far as a signer was told.
    private var isHeld: Bool {
        guard isSigner, let current, let place = places.first, let rollout = told.rollouts[place]?.known else {
            return false
        }
        return rollout.secret.isSame(as: current.name) && rollout.state == .held
    }

    /// As of when its health counts how long the store is away: while it rests, its wakes by the boot clock come late.
    private var judgedAt: Int64 { rest > 0 ? plannedAt : boot }

    private var isReasonToReceive: Bool? {
        guard expectedStoreState == .unreachable else { return false }
        if link.seen != nil, link.sawForbidden { return isReadOverdue ? nil : true }
        guard link.failingSince != nil, let since = link.blindSince, harmedAt < since else { return nil }
        let away = judgedAt - since
        // What was forbidden before is still said.
        if link.sawForbidden { return nil }
        return away < 85_800_000 ? false : away > 87_000_000 ? true : nil
    }

    private var isReasonToShare: Bool? {
        guard let board else { return false }
        if link.seen != nil, link.sawForbidden || isHeld { return true }
        if let since = link.failingSince {
            return harmedAt < since && judgedAt - since > 960_000 ? true : nil
        }
        // A place that others write to all the time is repaired less often for an hour.
        guard link.isGood, link.seen != nil, boot - max(link.changedAt, board.disturbedAt) > 3_900_000 else {
            return nil
        }
        return false
    }
}
