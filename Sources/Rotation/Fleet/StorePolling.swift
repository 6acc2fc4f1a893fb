import AppleClientSecret
internal import Failures
import Model

/// The content of the store when it was last read, and when it is read again.
///
/// - One request reads all places of this machine's clients: those that a follower receives from, and those that a signer
///   puts its secrets in.
/// - The store is read each minute, or every ten while a watch works, up to a quarter earlier. It is read at once at the start,
///   after a reload, with a newly read key and on request.
/// - A change reported by a watch brings the next read forward by a moment that differs from machine to machine. That happens
///   ten times in ten minutes; after that the store is read each minute, whatever changes there.
/// - No watch reports changes of a forbidden place, so the store is then read each minute.
/// - A read that fails changes nothing that was seen, and nothing that is published.
struct StorePolling: Sendable {
    /// The content of each place when it was last read.
    private(set) var observed: [StorePlace: StoreObservation] = [:]
    /// The rollout of each of them, if there is one.
    private(set) var rollouts: [StorePlace: RolloutObservation] = [:]
    /// Whether a client concerns the store at all.
    private var isUsed = false
    /// When it was last read successfully; nil after a read that failed.
    private var reading = Reading<BootTime>(countsFrom: .first)
    /// Jobs before this one were about another store.
    private var firstOfStore = JobID.first
    /// Why the last read failed.
    private var failure: FailureCode?
    /// The time of a read that a watch has requested.
    private var hintedFor: BootTime?
    /// When a watch has had the store read.
    private var hints = hintLimit
    /// How often a watch may cause a read. A user with write access to one key decides how often it changes.
    private static let hintLimit = RateLimit(10, in: 600)
    private var isWatched = false
    /// When another process of the service is asked at once because one has ended. A service that ends after each answer is
    /// asked only after a pause.
    private var newServices = RateLimit(1, in: interval)
    /// The attempts that the metrics show.
    private(set) var counts = StoreView()
    /// Until when a merely missing secret is not minted before its place was read: another signer may have minted one.
    private var awaitedUntil: BootTime?

    private static let interval: Seconds = 60
    private static let watchedInterval: Seconds = 600
    /// In milliseconds.
    private static let longestHint = 1000.0
    private static let answerWait: Seconds = 20

    // MARK: State

    /// Every secret that was seen there.
    var allSecrets: [SecretInfo] {
        observed.values.compactMap { if case .secret(let issued, _) = $0 { issued } else { nil } }
    }

    /// Whether a job, which may be older than a reload, is about the store that is configured now.
    func isOfThisStore(_ job: Job) -> Bool { job.id >= firstOfStore }

    /// Whether the last read has failed, or none was tried yet.
    var isFailing: Bool { reading.value == nil }

    /// Whether the last read counts, successful or not: nothing has asked for another one since.
    var isFresh: Bool { reading.isFresh }

    /// Whether the first content of a place may still come from the store, so that nothing is minted that it may hold.
    func isAwaited(at place: StorePlace, _ timer: inout WakeTimer) -> Bool {
        // Only an operator can change that the store refuses this machine.
        guard observed[place] == nil, let awaitedUntil, failure?.traits.contains(.refusalOfStore) != true else {
            return false
        }
        return !timer.reached(awaitedUntil)
    }

    fileprivate func isDue(_ jobs: Jobs, _ timer: inout WakeTimer) -> Bool {
        // Last, because listing the places is costly.
        guard isUsed, jobs.mayStart(.store, &timer) else { return false }
        guard reading.isFresh, let readAt = reading.value, let readBy = reading.readBy else { return true }
        let isHinted = hintedFor.map { timer.reached($0) } ?? false
        if isHinted, hints.admits(&timer) { return true }
        let interval =
            isWatched && !isHinted && !observed.values.contains(.forbidden) ? Self.watchedInterval : Self.interval
        return timer.reached(readAt.after(interval, spreadBy: jobs.jitter("read the store after \(readBy.number)")))
    }

    // MARK: Events

    mutating func adopt(_ change: ConfigurationChange) {
        if change.isOfStore {
            let counts = counts
            self = StorePolling()
            self.counts = counts
            self.counts.isReachable = false
            firstOfStore = change.next
        }
        expectPlaces(at: change.now)
        isUsed = change.index.all.contains(where: \.concernsStore)
        reading.readAgain(next: change.next)
    }

    /// Has the store read again, also if a job before `next` is reading it now.
    mutating func readAgain(next: JobID) { reading.readAgain(next: next) }

    /// Makes the minting of a missing secret wait for the next read, because other places are of interest.
    mutating func expectPlaces(at now: Now) { awaitedUntil = now.boot + Self.answerWait }

    /// Records that something may have changed there.
    mutating func notice(_ jobs: Jobs, at now: Now) {
        let pause = Int64(Self.longestHint * jobs.jitter("a notice of the store after \(jobs.next.number)"))
        hintedFor = hintedFor ?? now.boot.advanced(milliseconds: pause)
    }

    mutating func setWatched(_ isWatched: Bool) { self.isWatched = isWatched }

    /// The service has ended. Returns when another process may be asked.
    fileprivate mutating func serviceEnded(at now: BootTime) -> BootTime {
        isWatched = false
        if let next = newServices.next(at: now) { return next }
        newServices.note(at: now)
        return now
    }

    fileprivate mutating func beginReading(at now: Now) {
        if hintedFor != nil { hints.note(at: now.boot) }
        hintedFor = nil
    }

    fileprivate mutating func read(
        _ found: [StorePlace: StoreObservation], _ rollouts: [StorePlace: RolloutObservation], by job: JobID,
        at now: Now
    ) {
        reading.end(now.boot, by: job)
        counts.reads.count(success: true)
        counts.isReachable = true
        counts.lastContactAt = now.wall
        counts.rejected += found.count { observed[$0.key] != $0.value && $0.value.isRejected(at: $0.key) }
        observed = found
        self.rollouts = rollouts
        failure = nil
    }

    fileprivate mutating func readFailed(_ code: FailureCode, by job: JobID) {
        reading.end(nil, by: job)
        counts.reads.count(success: false)
        counts.isReachable = false
        failure = code
        isWatched = false
    }

    /// Records the content that a put has found or left.
    mutating func see(_ observation: StoreObservation, at place: StorePlace) { observed[place] = observation }

    /// Records the content that a put of a rollout has found or left.
    mutating func see(_ rollout: RolloutObservation?, at place: StorePlace) { rollouts[place] = rollout }

    fileprivate mutating func setCertificate(expiresAt: WallTime?) { counts.certificateExpiresAt = expiresAt }

    /// Counts a put; nil for one that found other content than last seen.
    mutating func countPut(success: Bool?) {
        if let success { counts.puts.count(success: success) } else { counts.conflicts += 1 }
    }

    /// The view of the store; nil if no client concerns it.
    var view: StoreView? { isUsed ? counts : nil }
}

extension StoreObservation {
    /// Whether the place's key has not signed it for its client.
    fileprivate func isRejected(at place: StorePlace) -> Bool {
        switch self {
        case .missing, .forbidden: false
        case .foreign: true
        case .secret(let issued, _):
            issued.signer != place.key || issued.team != place.team || !place.client.accepts(issued.client)
        }
    }
}

extension Rotation {
    // MARK: State

    mutating func storeFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        // At a reload it is read again, because other places may be of interest.
        guard case .readStore = job.work, jobs.isCurrent(job) else { return }
        switch result {
        case .success(.storeRead(let found, rollouts: let rollouts)):
            for case .secret(let issued, _) in found.values { clock.noteIssue(issued) }
            let current = index.all.flatMap { wantedSecret($0)?.name.digests ?? [] }
            admissions.read(found, rollouts, current: Set(current))
            storePolling.read(found, rollouts, by: job.id, at: now)
        case .failure(let failure): storePolling.readFailed(failure.code, by: job.id)
        case .success(let outcome): return unexpected(outcome, of: job)
        }
        for client in index.all where client.concernsStore && client.entry.source != nil {
            let places = storePlaces(of: client)
            let isRead = !storePolling.isFailing && places.allSatisfy { storePolling.observed[$0] != nil }
            let found = isRead ? places.compactMap(storeObservation) : nil
            clients[client].source?.reading.end(found, by: job.id)
        }
        touchClientsOnStore()
    }

    /// The places of a client's secrets in the store, in the order of preference; none of a key that was not read.
    func storePlaces(of client: ConfiguredClient) -> [StorePlace] {
        client.keys.compactMap { key in
            keys.digest(of: key.name).map {
                StorePlace(team: key.entry.team, client: client.entry.clientID, key: $0)
            }
        }
    }

    /// The same observation for a receiving client.
    private func storeObservation(_ place: StorePlace) -> SourceObservation? {
        switch storePolling.observed[place] {
        case .missing: .missing
        case .secret(let issued, _): .secret(issued)
        case .foreign(let words, _): .foreign(words)
        case .forbidden: .refused
        case nil: nil
        }
    }

    /// Ends the pauses after the service's answers: another process takes its place, and reads the certificates and the
    /// password again.
    mutating func storeServiceEnded(at now: Now) {
        let next = storePolling.serviceEnded(at: now.boot)
        let pause = Seconds(roundingUp: next.milliseconds - now.boot.milliseconds)
        for resource in jobs.attempts.keys where resource.isOfStore {
            jobs.retry(resource, within: pause, at: now)
            touch(resource)
        }
    }

    mutating func noteStoreCertificate(_ expiresAt: WallTime?) {
        storePolling.setCertificate(expiresAt: expiresAt)
        touchClientsOnStore()
    }

    /// Has the next plan cover every client whose secrets are received from the store, or put there.
    mutating func touchClientsOnStore() {
        for client in index.all where client.concernsStore { touch(client) }
    }

    // MARK: Plan

    mutating func planStore(_ timer: inout WakeTimer) {
        guard storePolling.isDue(jobs, &timer),
            keys.names.allSatisfy({ keys.isFresh($0) || jobs.isOverdue(.key($0)) })
        else { return }
        let places = Set(index.all.filter(\.concernsStore).flatMap(storePlaces)).sorted()
        if !places.isEmpty, jobs.start(.readStore(places), on: .store, &timer) {
            storePolling.beginReading(at: timer.now)
        }
    }
}
