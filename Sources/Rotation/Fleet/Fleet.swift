import AppleClientSecret
internal import Failures
import Model

/// What the machines of the fleet hold, by their reports in the store. Only a machine that puts secrets there reads them.
///
/// - The reports are read every five minutes, for the metrics, each half minute while a secret is rolled out, and whenever
///   a user asks.
/// - A machine is silent after a day without a sign of life. That is its report's change as seen from here, or the time in
///   the report where no change was seen since the start: a wrong clock of another machine does not make it silent for ever, and
///   one that is ahead does not keep it alive. One that a rollout no longer waits for is silent before that.
/// - Time in which no machine could report does not count as silence: after the start, and after the reports could not be read, rollouts
///   pass over no silent machine until each has had ``returning`` to report.
/// - While this machine's own clock may be ahead, no report's age is known: all machines would count as silent, and rollouts wait
///   for none of those.
/// - The report of a machine without a sign of life for 14 days is removed, once it was seen unchanged from here for more
///   than the day in which every machine reports: a clock that is behind costs no machine its report. This machine's own
///   never is removed. A machine whose report is gone by then, as another signer removes it as well, is not missing.
/// - Reports prove nothing: a machine that may write there may write anything. What is shown depends on them, and how rollouts go
///   on: at worst these hold until the deadline, or admit all machines.
struct Fleet: Sendable {
    /// Whether secrets are put into the store from here.
    private(set) var isSigner = false
    private var hosts: [String: Host] = [:]
    /// What the hosts hold of each client of this machine.
    private var members: [ClientIdentity: [Member]] = [:]
    /// The clients whose secrets are put into the store from here, and the current secret.
    private var own: [ClientName: Own] = [:]
    /// How many machines hold what, by the last read of the reports that has succeeded; empty before the first one. A metric
    /// that was gone with each read that fails would restart the alerts that wait for hours.
    private(set) var counts: [ClientName: FleetCounts] = [:]
    /// When the reports were last read; nil after a read that failed.
    private var readAt: BootTime?
    /// Since when the reports cannot be read; nil while they can be.
    private var unreadableSince: BootTime?
    /// Since when the reports have been read without a gap of more than ``gap``.
    private var readableSince: BootTime?
    /// The job that has last read them successfully.
    private var readBy = JobID.beforeAll
    /// When it was last tried to remove a machine's report.
    private var forgottenAt: [String: BootTime] = [:]
    /// Which machines the rollout of a client's current secret no longer waits for.
    private var lost: [ClientName: Set<String>] = [:]
    /// How many machines each client has, also those whose report is gone. The records keep the number: after the store has
    /// lost all reports, the first few that return must not pass for the whole fleet.
    private var sizes: [ClientIdentity: Size] = [:]
    private var readingForbidden: Failure?
    private var forgettingForbidden: Failure?
    /// Whether the report of a machine may have become so old that it is removed.
    fileprivate var mayForget = false

    private struct Host: Hashable, Sendable {
        let observation: HostObservation
        /// What it reports, with what it reported earlier of clients for which there is no room now.
        let report: HostReport?
        /// When it was first seen at this revision.
        let seenAt: BootTime
        /// Whether it was seen at another one before, or appeared after the first read.
        let hasChanged: Bool

        /// When it last gave a sign of life: it was seen to report, or reported before that by its own clock.
        ///
        /// - Parameter isOldPerhaps: whether its report may be older than it was first seen.
        func lastSign(isOldPerhaps: Bool, at now: Now) -> WallTime {
            let seen = now.wall - now.boot.seconds(since: seenAt)
            guard isOldPerhaps, !hasChanged, let at = observation.report?.at else { return seen }
            // Never later than when it was first seen here: a time ahead of that was wrong, and stays wrong.
            return min(at, seen)
        }

        /// Whether it was silent for so long that its report is removed.
        func isForgotten(at now: Now) -> Bool {
            now.boot >= seenAt + HostReport.silence && now.wall - lastSign(isOldPerhaps: true, at: now) >= oblivion
        }

        /// Whether it has a report, in which this client is not.
        func reportsOthers(than client: ClientIdentity) -> Bool {
            report?.lacks(client) == true
        }
    }

    struct Member: Hashable, Sendable {
        let machine: String
        let holding: HostReport.Holding
        let lastSeen: WallTime
        let isSilent: Bool
        /// When its report was first seen as it is.
        let seenAt: BootTime

        func state(_ current: SecretName?, _ lost: Set<String>?) -> FleetCounts.State {
            if isSilent { return .silent }
            if holding.failure != nil { return .failing }
            if lost?.contains(machine) == true { return .silent }
            return current.map(holding.holds) == true ? .current : .behind
        }
    }

    /// The machines that report a client.
    struct Members {
        let all: [Member]
        /// Since when their reports have been read.
        let readableSince: BootTime
        /// Whether each of them that lives has had the time to report since.
        let haveHadTime: Bool
    }

    private struct Own: Hashable, Sendable {
        let identity: ClientIdentity
        let current: SecretName?
    }

    /// How many machines report a client, or did until their reports were gone.
    private struct Size: Hashable, Sendable {
        var count: Int
        var reporting: Int
        /// Since when reports are missing.
        var missingSince: BootTime?
    }

    private static let pace: Seconds = 300
    /// While a secret is rolled out: half of the minute over which machines spread their reports.
    private static let paceOfRollout: Seconds = 30
    /// A shorter one is no reason to give machines time to report.
    private static let gap: Seconds = 120
    /// How old what was read may be for a rollout to go on by it: four reads during one, else three.
    private static let (ageOfRollout, age): (Seconds, Seconds) = (120, 900)
    /// Within this every machine that lives has reported: it finds a store that is back after five minutes at most, and spreads
    /// its reports over one.
    private static let returning: Seconds = 900
    /// How long what was read is shown to those who ask.
    private static let freshness: Seconds = 30
    /// How long a report that could not be removed is left there.
    private static let forgettingPace: Seconds = 86_400
    private static let oblivion: Seconds = 1_209_600

    mutating func adopt(_ change: ConfigurationChange) {
        if change.isOfStore { self = Fleet() }
        own = own.filter { change.new.clients[$0.key]?.isSharing == true }
        counts = counts.filter { own[$0.key] != nil }
        lost = lost.filter { own[$0.key] != nil }
        isSigner = change.new.store != nil && change.new.clients.values.contains(where: \.isSharing)
        if !isSigner { (readingForbidden, forgettingForbidden) = (nil, nil) }
    }

    /// Notes which secret of a client, which is put into the store from here, is current.
    mutating func note(_ client: ClientName, _ identity: ClientIdentity, _ current: SecretName?) {
        let entry = Own(identity: identity, current: current)
        guard own[client] != entry else { return }
        // The reports were not read for it yet.
        if own[client]?.identity != identity { readAt = nil }
        own[client] = entry
        lost[client] = nil
        if readAt != nil { counts[client] = count(client, entry) }
    }

    /// Notes which machines the rollout of a client's current secret no longer waits for.
    mutating func note(_ client: ClientName, lost machines: Set<String>) {
        guard let entry = own[client], lost[client] ?? [] != machines else { return }
        lost[client] = machines
        if readAt != nil { counts[client] = count(client, entry) }
    }

    /// That etcd does not let this machine read or remove reports; nil while nothing says so.
    var forbidden: Failure? { readingForbidden ?? forgettingForbidden }

    // MARK: Reading

    /// The clients whose reports are of interest.
    fileprivate var identities: Set<ClientIdentity> { Set(own.values.map(\.identity)) }

    fileprivate func mayRead(_ deadlines: inout Deadlines, _ jitter: Double, isRollingOut: Bool) -> Bool {
        guard let readAt else { return true }
        let pace = isRollingOut ? Self.paceOfRollout : Self.pace
        return deadlines.reached(readAt.after(pace, spreadBy: jitter))
    }

    /// The machines that report a client, but for this one; nil while that is not known.
    func members(
        of identity: ClientIdentity, excluding own: String, isRollingOut: Bool, _ deadlines: inout Deadlines
    ) -> Members? {
        guard let readAt, let readableSince, deadlines.now.boot < readAt + (isRollingOut ? Self.ageOfRollout : Self.age)
        else { return nil }
        return Members(
            all: (members[identity] ?? []).filter { $0.machine != own }, readableSince: readableSince,
            haveHadTime: deadlines.reached(readableSince + Self.returning))
    }

    /// How many machines a client is known to have, this one included; 0 where that is not known.
    func size(of identity: ClientIdentity) -> Int { sizes[identity]?.count ?? 0 }

    /// Takes from a client's record how many machines there were before the start.
    mutating func recall(_ size: Int, _ identity: ClientIdentity) {
        if size > 0, sizes[identity] == nil { sizes[identity] = Size(count: size, reporting: 0) }
    }

    /// How many machines have reported a client, and have no report now; those that have none for a day are gone.
    func missing(_ identity: ClientIdentity) -> Int { sizes[identity].map { $0.count - $0.reporting } ?? 0 }

    /// Notes how many machines report each client.
    ///
    /// - Parameter former: who reported each before. A machine that still reports, and no longer names a client, is not missing.
    private mutating func measure(since former: [ClientIdentity: [Member]], at now: Now) {
        for identity in identities {
            let count = members[identity]?.count ?? 0
            var known = sizes[identity]
            known?.count -= (former[identity] ?? []).count { hosts[$0.machine]?.reportsOthers(than: identity) == true }
            let since = known?.missingSince ?? now.boot
            if let known, count < known.count, now.boot < since + HostReport.silence {
                sizes[identity] = Size(count: known.count, reporting: count, missingSince: since)
            } else {
                sizes[identity] = Size(count: count, reporting: count)
            }
        }
    }

    fileprivate func wasRead(since job: JobID) -> Bool { readBy >= job }

    /// Whether the reports were read just now.
    func isFresh(at now: Now) -> Bool { readAt.map { now.boot < $0 + Self.freshness } ?? false }

    fileprivate mutating func read(
        _ found: [String: HostObservation], clockTellsAge: Bool, by job: JobID, at now: Now
    ) {
        let isFirst = readBy == .beforeAll
        for (machine, host) in hosts where clockTellsAge && found[machine] == nil && host.isForgotten(at: now) {
            remove(machine)
        }
        hosts = found.reduce(into: [:]) { hosts, entry in
            // Compared as a whole: after a backup was restored another report may have the same revision.
            let known = self.hosts[entry.key]
            hosts[entry.key] =
                known.flatMap { $0.observation == entry.value ? $0 : nil }
                ?? Host(
                    observation: entry.value, report: entry.value.report?.completed(by: known?.report),
                    seenAt: now.boot, hasChanged: !isFirst)
        }
        forgottenAt = forgottenAt.filter { hosts[$0.key] != nil }
        readingForbidden = nil
        if forgottenAt.isEmpty { forgettingForbidden = nil }
        readBy = job
        readAt = now.boot
        let wasUnreadable = unreadableSince.map { now.boot > $0 + Self.gap } ?? false
        if readableSince == nil || wasUnreadable { readableSince = now.boot }
        unreadableSince = nil
        evaluate(clockTellsAge: clockTellsAge, at: now)
    }

    /// What was read last says nothing of now: no rollout goes on by it.
    fileprivate mutating func failed(_ failure: Failure, at now: Now) {
        if failure.code == .storeForbidden { readingForbidden = failure }
        readAt = nil
        noteUnreadable(at: now)
    }

    fileprivate mutating func noteUnreadable(at now: Now) { unreadableSince = unreadableSince ?? now.boot }

    fileprivate mutating func beginForgetting(_ machine: String, at now: Now) { forgottenAt[machine] = now.boot }

    fileprivate mutating func forget(_ machine: String, clockTellsAge: Bool, at now: Now) {
        forgettingForbidden = nil
        remove(machine)
        evaluate(clockTellsAge: clockTellsAge, at: now)
    }

    /// Removes a machine that is not waited for to come back.
    private mutating func remove(_ machine: String) {
        let removed = hosts.removeValue(forKey: machine)?.report?.clients ?? [:]
        for identity in removed.keys { sizes[identity]?.count -= 1 }
    }

    fileprivate mutating func failedToForget(_ failure: Failure) {
        if failure.code == .storeForbidden { forgettingForbidden = failure }
    }

    private mutating func evaluate(clockTellsAge: Bool, at now: Now) {
        mayForget = true
        let former = members
        members = [:]
        for (machine, host) in hosts {
            let lastSeen = host.lastSign(isOldPerhaps: clockTellsAge, at: now)
            let isSilent = now.wall - lastSeen > HostReport.silence
            for (identity, holding) in host.report?.clients ?? [:] {
                members[identity, default: []].append(
                    Member(
                        machine: machine, holding: holding, lastSeen: lastSeen, isSilent: isSilent, seenAt: host.seenAt)
                )
            }
        }
        measure(since: former, at: now)
        counts = counted
    }

    private var counted: [ClientName: FleetCounts] {
        own.reduce(into: [:]) { counts, entry in counts[entry.key] = count(entry.key, entry.value) }
    }

    private func count(_ name: ClientName, _ client: Own) -> FleetCounts {
        var counts = FleetCounts()
        for member in members[client.identity] ?? [] {
            counts.count(member.state(client.current, lost[name]), isDelivered: member.holding.delivered)
        }
        return counts
    }

    /// A machine that was silent for so long that its report is removed; nil where there is none.
    fileprivate func forgotten(excluding own: String, at now: Now) -> (machine: String, revision: Int64)? {
        let old = hosts.filter { machine, host in
            machine != own && host.isForgotten(at: now)
                && forgottenAt[machine].map { now.boot >= $0 + Self.forgettingPace } ?? true
        }
        return old.min { $0.key < $1.key }.map { ($0.key, $0.value.observation.revision) }
    }

    // MARK: Showing

    fileprivate func view(all: Bool, _ rollouts: [ClientName: RolloutView]) -> FleetView {
        FleetView(
            clients: own.sorted { $0.key < $1.key }.map { name, client in
                let machines = (members[client.identity] ?? []).map { member in
                    FleetMachineView(
                        machine: member.machine, state: member.state(client.current, lost[name]),
                        holding: member.holding, lastSeen: member.lastSeen)
                }
                return FleetClientView(
                    name: name, fingerprint: client.current?.fingerprint, counts: count(name, client),
                    rollout: rollouts[name],
                    machines: machines.filter { all || $0.state != .current }.sorted { $0.isBefore($1) })
            })
    }

    func checkInvariants(_ configuration: Configuration) -> [String] {
        var broken: [String] = []
        if !own.keys.allSatisfy({ configuration.clients[$0]?.isSharing == true }) {
            broken.append("the fleet of another client is shown")
        }
        if readAt != nil, counts != counted { broken.append("machines of the fleet are miscounted") }
        return broken
    }
}

extension Rotation {
    // MARK: What is

    mutating func fleetFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        guard jobs.isCurrent(job) else { return }
        let clockTellsAge = clock.tellsAge(at: now)
        switch (job.work, result) {
        case (_, .success(.reportsRead(let found))):
            fleet.read(found, clockTellsAge: clockTellsAge, by: job.id, at: now)
            for client in watchedRollouts { touch(client) }
            // Their records keep how many machines there are.
            for client in index.all
            where client.entry.rollout != nil
                && clients[client].record.value.fleetSize != fleet.size(of: client.identity)
            {
                touch(client)
            }
        case (.forgetReport(let machine, _), .success(.reportForgotten)):
            fleet.forget(machine, clockTellsAge: clockTellsAge, at: now)
        case (.readReports, .failure(let failure)):
            fleet.failed(failure, at: now)
            for client in unfinishedRollouts { touch(client) }
        // Reading goes on.
        case (_, .failure(let failure)): fleet.failedToForget(failure)
        case (_, .success(let outcome)): unexpected(outcome, of: job)
        }
        judgeReports(at: now)
    }

    /// The first job whose read answers a request that is made now: the read that is under way; else any, while the last one is
    /// fresh; else the next.
    func readingOfFleet(at now: Now) -> JobID {
        if let job = jobs[.fleet], case .readReports = job.work, jobs.isCurrent(job) { return job.id }
        return fleet.isFresh(at: now) ? .first : jobs.next
    }

    // MARK: What is wanted

    mutating func planFleet(_ deadlines: inout Deadlines) {
        guard let store = configuration.store, fleet.isSigner, !isOnce, isReady else { return }
        if storeReading.isFailing { fleet.noteUnreadable(at: deadlines.now) }
        guard jobs.mayStart(.fleet, &deadlines) else { return }
        let isAsked = waiting.pending.contains { request in
            if case .fleet = request.request { !fleet.wasRead(since: request.since) } else { false }
        }
        if !isAsked, storeReading.isFailing { return }
        let isDue = fleet.mayRead(
            &deadlines, hostJitter, isRollingOut: clients.all.contains { $0.rollout?.isGoing == true })
        if isAsked || isDue {
            start(.readReports(of: fleet.identities), on: .fleet, &deadlines)
        } else if fleet.mayForget, clock.tellsAge(at: deadlines.now) {
            fleet.mayForget = false
            guard let (machine, revision) = fleet.forgotten(excluding: store.machine, at: deadlines.now) else {
                return
            }
            if start(.forgetReport(machine: machine, ifAt: revision), on: .fleet, &deadlines) {
                fleet.beginForgetting(machine, at: deadlines.now)
            }
        }
    }

    /// The answer to who asks for the fleet; nil until the reports were read for it.
    func fleetAnswer(all: Bool, since job: JobID, at now: Now) -> Answer? {
        guard fleet.isSigner else { return .noFleet(nil) }
        if fleet.wasRead(since: job) { return .fleet(fleet.view(all: all, rolloutViews)) }
        if let attempts = jobs.attempts[.fleet], attempts.job >= job { return .noFleet(attempts.failure) }
        return nil
    }
}
