import AppleClientSecret
internal import Failures
import Model

/// This machine's own report in the store.
///
/// - The report is put once every client was tried, when it changes, and once a day. After a change it waits for up to a
///   minute, a time that differs between machines. Otherwise all machines would report a renewal at once.
/// - A put names the revision at which the report was last put. A report from before the start is replaced, also that of
///   another installation of this machine.
/// - A report at a greater revision that this daemon did not put comes from another daemon of the same name. That is a fault
///   until no such report was seen for more than a day.
/// - While there may be another daemon of this name, the report is put each hour, so that the other one notices as well.
struct OwnReport: Sendable {
    private var holdings: [ClientName: Entry] = [:]
    /// When the report last changed without a put; nil while nothing changed.
    private var changedAt: BootTime?
    /// Whether the report is put at once.
    private var isUrgent = false
    /// When the report was last put; nil before the first time.
    private var putAt: BootTime?
    /// The revision at which it was last put, or the place was found; nil since the start, or since another store is
    /// configured.
    private var revision: Int64?
    /// Whether the last put failed and may still be in the store. Our own report at a greater revision is then that put.
    private var isUnanswered = false
    /// The failure that etcd does not let this machine put its report; nil until it refuses.
    fileprivate private(set) var forbidden: Failure?
    /// No put before this time, because another instance's report was found there again.
    private var pausedUntil: BootTime?
    /// When another instance's report was last found there. A second time within an hour pauses the puts, so that two daemons
    /// of one name do not replace each other's reports without end.
    private var otherSeenAt: BootTime?
    /// Whether the other daemon has put its report while this one ran: only then is it a fault. A report found at the first put
    /// may come from a daemon that has ended.
    private var isNameTaken = false

    private struct Entry: Hashable, Sendable {
        let identity: ClientIdentity
        var holding: MachineReport.Holding
    }

    /// In milliseconds.
    private static let spread = 60_000.0
    private static let interval: Seconds = 86_400
    private static let intervalWithOther: Seconds = 3_600

    /// - Parameter isPutting: whether a put is under way.
    fileprivate mutating func adopt(_ change: ConfigurationChange, isPutting: Bool) {
        let kept = holdings.filter { change.new.store != nil && change.new.clients[$0.key] != nil }
        let hasChanged = kept.count < holdings.count || change.isOfStore
        if change.isOfStore { self = OwnReport() }
        holdings = kept
        if hasChanged { changedAt = changedAt ?? change.now.boot }
        // The user may just have given the other machine its own name.
        pausedUntil = nil
        // The failure of a put that was started under the earlier configuration is not reported.
        if isPutting { failed(at: change.now) }
    }

    /// Notes a client's holding; nil for a client that is not reported.
    fileprivate mutating func note(
        _ holding: MachineReport.Holding?, of identity: ClientIdentity, _ client: ClientName, at now: Now
    ) {
        let old = holdings[client]
        var entry = holding.map { Entry(identity: identity, holding: $0) }
        if let old, old.identity == identity, old.holding.hasSameSecret(as: entry?.holding) {
            entry?.holding.since = old.holding.since
        }
        guard entry != old else { return }
        holdings[client] = entry
        changedAt = changedAt ?? now.boot
    }

    fileprivate func isDue(renewalJitter: Double, _ timer: inout WakeTimer) -> Bool {
        if let pausedUntil, !timer.reached(pausedUntil) { return false }
        if isUrgent { return true }
        let wait = Int64(Self.spread * renewalJitter)
        if let changedAt, timer.reached(changedAt.advanced(milliseconds: wait)) { return true }
        guard let putAt else { return false }
        let interval = otherSeenAt == nil ? Self.interval : Self.intervalWithOther
        // Machines that were started together spread over the last quarter.
        return timer.reached(putAt.after(interval, spreadBy: renewalJitter))
    }

    /// The report as the next put has it, and the revision that the put names.
    fileprivate func wanted(at now: Now) -> (report: MachineReport, revision: Int64) {
        var clients: [ClientIdentity: MachineReport.Holding] = [:]
        for entry in holdings.values {
            clients.merge([entry.identity: entry.holding]) { $0.isWorse(than: $1) ? $0 : $1 }
        }
        return (MachineReport(at: now.wall, clients: clients), revision ?? 0)
    }

    fileprivate mutating func begin() {
        changedAt = nil
        isUrgent = false
    }

    fileprivate mutating func done(revision: Int64, at now: Now) {
        self.revision = revision
        putAt = now.boot
        isUnanswered = false
        forbidden = nil
    }

    /// Records a report found in place of the last one. Returns whether another instance reports under the same name.
    fileprivate mutating func found(_ found: ReportObservation?, at now: Now) -> Bool {
        defer {
            revision = found?.revision ?? 0
            isUnanswered = false
            isUrgent = true
        }
        // A report that was removed is put again at once, also if another instance's was there shortly before.
        guard let found else { return false }
        if let revision {
            // A restored backup holds an earlier report, at a smaller revision.
            guard found.revision > revision, !(found.isOwn && isUnanswered) else { return false }
            isNameTaken = true
        } else if found.isOwn {
            resume(found.report)
            return false
        }
        if let otherSeenAt, now.boot < otherSeenAt + Self.intervalWithOther {
            pausedUntil = now.boot + Self.intervalWithOther
        }
        otherSeenAt = now.boot
        return isNameTaken
    }

    fileprivate mutating func failed(_ failure: Failure? = nil, at now: Now) {
        if failure?.code == .storeForbidden { forbidden = failure }
        isUnanswered = true
        changedAt = changedAt ?? now.boot
    }

    /// Continues from the report before a restart: its current secrets have been current since.
    private mutating func resume(_ report: MachineReport?) {
        for (name, entry) in holdings {
            guard let former = report?.clients[entry.identity], former.hasSameSecret(as: entry.holding),
                former.since < entry.holding.since
            else { continue }
            holdings[name]?.holding.since = former.since
        }
    }

    /// Forgets another instance that was not seen for long. Returns whether it was a fault.
    fileprivate mutating func forgetOther(_ timer: inout WakeTimer) -> Bool {
        guard let otherSeenAt, timer.reached(otherSeenAt + MachineReport.silence) else { return false }
        defer { isNameTaken = false }
        self.otherSeenAt = nil
        return isNameTaken
    }
}

extension Rotation {
    // MARK: State

    mutating func adoptReporting(_ change: ConfigurationChange) {
        ownReport.adopt(change, isPutting: jobs[.report] != nil)
        if change.isOfStore { clearFault(.storeMachineShared) }
        judgeReports(at: change.now)
    }

    /// Raises a fault if this machine may not put its report, or may not read or remove those of others.
    mutating func judgeReports(at now: Now) {
        guard let failure = ownReport.forbidden ?? fleet.forbidden else { return clearFault(.storeForbidden) }
        raiseFault(failure, nil, at: now)
    }

    mutating func reportFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard case .putReport(_, let machine, _) = job.work else { return }
        switch result {
        case .success(.reportPut(.done(let revision))):
            ownReport.done(revision: revision, at: now)
            judgeReports(at: now)
        case .success(.reportPut(.found(let found))):
            guard ownReport.found(found, at: now) else { return }
            raiseFault(Failure(.storeMachineShared, at: .store, detail: machine), nil, at: now)
        case .failure(let failure):
            // Any other failure also keeps the store from being read, which the clients report.
            ownReport.failed(failure, at: now)
            judgeReports(at: now)
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    // MARK: Plan

    /// Updates the report with a client whose health was evaluated.
    mutating func noteHolding(_ client: ConfiguredClient, at now: Now) {
        let name = client.name
        guard client.concernsStore, let view = clients[client].health.view else {
            return ownReport.note(nil, of: client.identity, name, at: now)
        }
        let code = view.reason?.failure.code
        // A renewal under way is no failure, whatever applications hold meanwhile: the fingerprint and `delivered` show it. A held rollout is no failure of this
        // machine. A place that is switched off, or a rollback in production, is none of the secret.
        let isOfOthers = [.rolloutHeld, .pushSwitchedOff, .pushDeploymentOutdated].contains(code)
        let holding = MachineReport.Holding(
            secret: view.current?.name, since: now.wall, delivered: view.delivered,
            failure: view.isUnderWay || view.isDelivering || view.health == .degraded && isOfOthers
                ? nil : code?.rawValue)
        ownReport.note(holding, of: client.identity, name, at: now)
        if client.isSharing { fleet.note(name, client.identity, view.current?.name) }
    }

    mutating func planReport(_ timer: inout WakeTimer) {
        if ownReport.forgetOther(&timer) { clearFault(.storeMachineShared) }
        // While the store cannot be read, nothing can be put there either. A single run ends before the day does.
        guard let store = configuration.store, !isOnce, isReady, !storePolling.isFailing,
            jobs.mayStart(.report, &timer), ownReport.isDue(renewalJitter: renewalJitter, &timer)
        else { return }
        let (report, revision) = ownReport.wanted(at: timer.now)
        if jobs.start(.putReport(report, machine: store.machine, ifAt: revision), on: .report, &timer) {
            ownReport.begin()
        }
    }
}
