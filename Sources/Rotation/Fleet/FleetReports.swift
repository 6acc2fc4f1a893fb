import AppleClientSecret
internal import Failures
import Model

/// The secrets of the fleet's machines, by their reports in the store. Only a machine that puts secrets there reads them.
///
/// - The reports are read every five minutes for the metrics, each half minute during a rollout, and whenever a user asks.
/// - A machine is silent after a day without a sign of life. A sign of life is a change of its report as seen from here. If no
///   change was seen since the start, it is the time in the report.
/// - So a wrong clock of another machine does not make it silent for ever, and a clock that is ahead does not keep it alive. A
///   machine that a rollout no longer waits for is silent earlier.
/// - Time in which no machine could report does not count as silence. After a start or failed reads, rollouts pass over no
///   silent machine until each has had time to report again.
/// - While this machine's clock may be ahead, no report's age is known. All machines would count as silent, and rollouts would
///   wait for none of them.
/// - A report is removed after 14 days without a sign of life, once it was seen unchanged from here for more than a day. Every
///   machine reports within that day, so a clock that is behind costs no machine its report. This machine never removes its own
///   report. If another signer has removed a report by then, its machine is not missing.
/// - Reports prove nothing: a machine that may write to the store may write anything. The fleet view and the progress of
///   rollouts depend on them. At worst rollouts hold until the deadline, or admit all machines.
struct FleetReports: Sendable {
    /// Whether secrets are put into the store from here.
    private(set) var isSigner = false
    private var machines: [String: ReportingMachine] = [:]
    /// The machines' holdings of each client of this machine.
    private var members: [ClientIdentity: [FleetMembers.Member]] = [:]
    /// The clients whose secrets are put into the store from here, and the current secret.
    private var own: [ClientName: Own] = [:]
    /// How many machines hold which secret, by the last successful read of the reports; empty before the first one. If a failed
    /// read removed a metric, alerts that wait for hours would restart.
    private(set) var counts: [ClientName: FleetCounts] = [:]
    private(set) var reading = ReportReading()
    /// When the daemon last tried to remove a machine's report.
    private var forgottenAt: [String: BootTime] = [:]
    /// The machines that the rollout of a client's current secret no longer waits for.
    private var lost: [ClientName: Set<String>] = [:]
    var known = KnownMachines()
    private var readingForbidden: Failure?
    private var forgettingForbidden: Failure?
    /// Whether a machine's report may be old enough to be removed.
    private(set) var mayForget = false

    private struct Own: Hashable, Sendable {
        let identity: ClientIdentity
        let current: SecretName?
    }

    /// How long a report that could not be removed is left there.
    private static let forgettingInterval: Seconds = 86_400

    mutating func adopt(_ change: ConfigurationChange) {
        if change.isOfStore { self = FleetReports() }
        own = own.filter { change.index[$0.key]?.isSharing == true }
        counts = counts.filter { own[$0.key] != nil }
        lost = lost.filter { own[$0.key] != nil }
        isSigner = change.index.all.contains(where: \.isSharing)
        if !isSigner { (readingForbidden, forgettingForbidden) = (nil, nil) }
    }

    /// Records the current secret of a client whose secrets are put into the store from here.
    mutating func note(_ client: ClientName, _ identity: ClientIdentity, _ current: SecretName?) {
        let entry = Own(identity: identity, current: current)
        guard own[client] != entry else { return }
        // The reports were not read for it yet.
        if own[client]?.identity != identity { reading.invalidate() }
        own[client] = entry
        lost[client] = nil
        if reading.isKnown { counts[client] = count(client, entry) }
    }

    /// Records the machines that the rollout of a client's current secret no longer waits for.
    mutating func note(_ client: ClientName, lost machines: Set<String>) {
        guard let entry = own[client], lost[client] ?? [] != machines else { return }
        lost[client] = machines
        if reading.isKnown { counts[client] = count(client, entry) }
    }

    /// That etcd does not let this machine read or remove reports; nil until it refuses.
    var forbidden: Failure? { readingForbidden ?? forgettingForbidden }

    // MARK: Reading

    /// The clients whose reports are of interest.
    var identities: Set<ClientIdentity> { Set(own.values.map(\.identity)) }

    /// The machines that report a client, apart from this one; nil while they are not known.
    func members(
        of identity: ClientIdentity, excluding own: String, isRollingOut: Bool, _ timer: inout WakeTimer
    ) -> FleetMembers? {
        reading.members(
            (members[identity] ?? []).filter { $0.machine != own }, isRollingOut: isRollingOut, &timer)
    }

    /// Records which machines report each client.
    private mutating func noteMachines(at now: Now) {
        let machines = Dictionary(machines.map { (MachineNumber.of($0.key), $0.value) }) { one, _ in one }
        for identity in identities {
            let reporting = Set((members[identity] ?? []).map { MachineNumber.of($0.machine) })
            known.see(reporting, of: identity, at: now) { machines[$0]?.reportsOthers(than: identity) == true }
        }
    }

    mutating func read(
        _ found: [String: ReportObservation], clockTellsAge: Bool, by job: JobID, at now: Now
    ) {
        let isFirst = !reading.hasSucceeded
        for (name, machine) in machines where clockTellsAge && found[name] == nil && machine.isForgotten(at: now) {
            remove(name)
        }
        machines = found.reduce(into: [:]) { machines, entry in
            // Compared as a whole: after the restore of a backup another report may have the same revision.
            let known = self.machines[entry.key]
            machines[entry.key] =
                known.flatMap { $0.observation == entry.value ? $0 : nil }
                ?? ReportingMachine(
                    observation: entry.value, report: entry.value.report?.completed(by: known?.report),
                    seenAt: now.boot, hasChanged: !isFirst)
        }
        forgottenAt = forgottenAt.filter { machines[$0.key] != nil }
        readingForbidden = nil
        if forgottenAt.isEmpty { forgettingForbidden = nil }
        reading.succeed(by: job, at: now)
        evaluate(clockTellsAge: clockTellsAge, at: now)
    }

    mutating func failed(_ failure: Failure, at now: Now) {
        if failure.code == .storeForbidden { readingForbidden = failure }
        reading.invalidate()
        noteUnreadable(at: now)
    }

    mutating func noteUnreadable(at now: Now) { reading.noteUnreadable(at: now) }

    mutating func beginForgetting(_ machine: String, at now: Now) { forgottenAt[machine] = now.boot }

    mutating func forget(_ machine: String, clockTellsAge: Bool, at now: Now) {
        forgettingForbidden = nil
        remove(machine)
        evaluate(clockTellsAge: clockTellsAge, at: now)
    }

    /// Removes a machine without waiting for it to come back.
    private mutating func remove(_ machine: String) {
        machines[machine] = nil
        known.remove(MachineNumber.of(machine))
    }

    mutating func failedToForget(_ failure: Failure) {
        if failure.code == .storeForbidden { forgettingForbidden = failure }
    }

    private mutating func evaluate(clockTellsAge: Bool, at now: Now) {
        mayForget = true
        members = [:]
        for (name, machine) in machines {
            let lastSeen = machine.lastSign(isOldPerhaps: clockTellsAge, at: now)
            let isSilent = ReportingMachine.isSilent(since: lastSeen, at: now)
            for (identity, holding) in machine.report?.clients ?? [:] {
                members[identity, default: []].append(
                    FleetMembers.Member(
                        machine: name, holding: holding, lastSeen: lastSeen, isSilent: isSilent, seenAt: machine.seenAt)
                )
            }
        }
        noteMachines(at: now)
        counts = counted
    }

    private var counted: [ClientName: FleetCounts] {
        own.reduce(into: [:]) { counts, entry in counts[entry.key] = count(entry.key, entry.value) }
    }

    private func count(_ name: ClientName, _ client: Own) -> FleetCounts {
        var counts = FleetCounts()
        for member in members[client.identity] ?? [] {
            counts.count(
                member.state(client.current, lost[name]), hasDelivered: member.hasDelivered(client.current))
        }
        return counts
    }

    /// A machine that was silent long enough for its report to be removed; nil if there is none.
    ///
    /// The search runs once after each read: until the next one no other machine is found.
    mutating func takeForgotten(excluding own: String, at now: Now) -> (machine: String, revision: Int64)? {
        mayForget = false
        let old = machines.filter { name, machine in
            name != own && machine.isForgotten(at: now)
                && forgottenAt[name].map { now.boot >= $0 + Self.forgettingInterval } ?? true
        }
        return old.min { $0.key < $1.key }.map { ($0.key, $0.value.observation.revision) }
    }

    // MARK: Showing

    func view(all: Bool, _ rollouts: [ClientName: RolloutView]) -> FleetView {
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

    func checkInvariants() -> [String] {
        reading.isKnown && counts != counted ? ["machines of the fleet are miscounted"] : []
    }
}
