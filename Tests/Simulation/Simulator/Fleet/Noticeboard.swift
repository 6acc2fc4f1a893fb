import AppleClientSecret
import Model
import Rotation

/// What lies in a fleet's store, at which revisions; and who has put it there, which no machine is told.
final class Noticeboard {
    /// What lies in one place.
    struct Entry<Value: Hashable>: Hashable {
        let value: Value
        let revision: Int64
        /// When it was put there, in milliseconds of the boot clock.
        let at: Int64
    }

    /// What a machine's place for its report holds.
    struct Report: Hashable {
        /// Nil for what is no report.
        let value: MachineReport?
        let instance: UInt64
        let revision: Int64
        let at: Int64
    }

    /// What lies in the place of a rollout; without a value what is none.
    typealias RolloutEntry = Entry<Rollout?>

    /// What a signer puts into one place, in one transaction.
    struct Put {
        let place: StorePlace
        var secret: SecretPut?
        /// With the revision at which it was last changed.
        var rollout: (value: Rollout, revision: Int64)?
    }

    /// A put that is carried out after it was said to have failed.
    private struct LatePut {
        let at: Int64
        let put: Put
    }

    /// Up to which rank machines were let deliver a secret for the first time, and when.
    private struct Admission {
        let admitted: UInt64
        let at: Int64
    }

    /// Everything that a backup holds.
    struct Backup {
        fileprivate let places: [StorePlace: Entry<Offer>]
        fileprivate let rollouts: [StorePlace: RolloutEntry]
        fileprivate let reports: [String: Report]
        fileprivate let revision: Int64
    }

    /// Before everything.
    static let longAgo: Int64 = -1 << 60

    private(set) var places: [StorePlace: Entry<Offer>] = [:]
    private(set) var rollouts: [StorePlace: RolloutEntry] = [:]
    private(set) var reports: [String: Report] = [:]
    /// Each one greater than the one before.
    private var admissions: [Fingerprint: [Admission]] = [:]
    private var revision: Int64 = 1
    private var late: [LatePut] = []
    /// Places that have changed since ``takeChanges()`` was last called.
    private var changes: Set<StorePlace> = []
    /// When somebody other than a machine has last changed what it reports, or lost it.
    private(set) var tamperedAt: [String: Int64] = [:]
    /// When somebody has last put a report under a machine's name.
    private(set) var impostureAt: [String: Int64] = [:]
    /// When somebody may last have had a reason to put something else there than the signers: a stranger, or a signer with
    /// a wrong clock.
    var disturbedAt = Noticeboard.longAgo
    /// When somebody other than a signer has last changed a rollout, or lost it.
    private(set) var rolloutTamperedAt = Noticeboard.longAgo
    /// When somebody has last put a rollout or a report there that no machine has made.
    private(set) var forgedAt = Noticeboard.longAgo
    /// When a place has last changed, and when what machines report.
    private(set) var changedAt: Int64 = 0
    private(set) var reportsChangedAt: Int64 = 0

    // MARK: Machines

    /// Puts a secret, a rollout, or both, where nothing was changed at another revision; nil where something was.
    func put(_ put: Put, now: Int64) -> Int64? {
        if let revision = revisionWhereItIs(put) { return revision }
        if let secret = put.secret, places[put.place]?.revision ?? 0 != secret.revision { return nil }
        if let rollout = put.rollout, rollouts[put.place]?.revision ?? 0 != rollout.revision { return nil }
        revision += 1
        if let secret = put.secret { write(.secret(secret.secret), at: put.place, now: now) }
        if let rollout = put.rollout { write(rollout.value, ofRolloutAt: put.place, now: now) }
        return revision
    }

    /// Where it was put before without an answer; what is of one transaction has one revision.
    private func revisionWhereItIs(_ put: Put) -> Int64? {
        let secret = places[put.place]
        let rollout = rollouts[put.place]
        if let wanted = put.secret, secret?.value != .secret(wanted.secret) { return nil }
        guard let wanted = put.rollout else { return secret?.revision }
        guard let rollout, rollout.value == wanted.value, put.secret == nil || secret?.revision == rollout.revision
        else { return nil }
        return rollout.revision
    }

    /// Has a put take effect at a later moment.
    func putLate(_ put: Put, moment: Int64) { late.append(LatePut(at: moment, put: put)) }

    /// Puts a machine's report if its place was last changed at this revision; nil when it was changed at another one.
    func put(_ report: MachineReport, of machine: String, _ instance: UInt64, ifAt expected: Int64, now: Int64)
        -> Int64?
    {
        if let entry = reports[machine], entry.value == report, entry.instance == instance { return entry.revision }
        guard reports[machine]?.revision ?? 0 == expected else { return nil }
        revision += 1
        if reports[machine]?.value?.clients != report.clients { reportsChangedAt = now }
        reports[machine] = Report(value: report, instance: instance, revision: revision, at: now)
        return revision
    }

    func forget(_ machine: String, ifAt expected: Int64, now: Int64) {
        guard reports[machine]?.revision == expected else { return }
        reports[machine] = nil
        reportsChangedAt = now
    }

    // MARK: Rollouts

    /// Since when the machine of this rank was first let deliver a secret; nil where it never was.
    func admittedAt(_ rank: UInt64, to secret: Fingerprint) -> Int64? {
        admissions[secret]?.first { rank <= $0.admitted }?.at
    }

    /// Whether machines are still to be admitted, and nobody holds that up.
    var isRollingOut: Bool {
        rollouts.contains { place, entry in
            guard let rollout = entry.value, case .secret(let secret)? = places[place]?.value else { return false }
            return rollout.secret.fingerprint == secret.fingerprint && rollout.state == .going
                && rollout.admitted < .max
        }
    }

    // MARK: Time

    var nextMoment: Int64? { late.map(\.at).min() }

    /// Carries out the puts that come late.
    func pass(until now: Int64) {
        for late in late where late.at <= now { _ = put(late.put, now: now) }
        late.removeAll { $0.at <= now }
    }

    /// The places that have changed since this was last called.
    func takeChanges() -> Set<StorePlace> {
        defer { changes = [] }
        return changes
    }

    // MARK: Strangers

    private func write(_ value: Offer?, at place: StorePlace, now: Int64) {
        places[place] = value.map { Entry(value: $0, revision: revision, at: now) }
        changes.insert(place)
        changedAt = now
    }

    /// - Parameter value: nil for something that is no rollout.
    private func write(_ value: Rollout?, ofRolloutAt place: StorePlace, now: Int64) {
        rollouts[place] = RolloutEntry(value: value, revision: revision, at: now)
        changes.insert(place)
        changedAt = now
        note(value, now: now)
    }

    private func note(_ rollout: Rollout?, now: Int64) {
        guard let rollout, rollout.admitted > admissions[rollout.secret.fingerprint]?.last?.admitted ?? 0 else {
            return
        }
        admissions[rollout.secret.fingerprint, default: []].append(Admission(admitted: rollout.admitted, at: now))
    }

    /// Somebody who is no machine puts something into a place, or empties it.
    func tamper(_ place: StorePlace, with value: Offer?, now: Int64) {
        revision += 1
        write(value, at: place, now: now)
        disturbedAt = now
    }

    /// Somebody who is no machine removes a rollout, or replaces it.
    ///
    /// - Parameter entry: nil: it is gone. Nil in it: something that is no rollout.
    func tamper(_ place: StorePlace, withRollout entry: Rollout??, now: Int64) {
        revision += 1
        if let entry {
            write(entry, ofRolloutAt: place, now: now)
            forgedAt = now
        } else {
            rollouts[place] = nil
            changes.insert(place)
            changedAt = now
        }
        disturbedAt = now
        rolloutTamperedAt = now
    }

    /// Somebody puts a report under a name.
    func impersonate(_ machine: String, _ report: MachineReport?, _ instance: UInt64, now: Int64) {
        revision += 1
        reports[machine] = Report(value: report, instance: instance, revision: revision, at: now)
        tamperedAt[machine] = now
        impostureAt[machine] = now
        forgedAt = now
        reportsChangedAt = now
    }

    /// Everything is gone, or the secrets alone.
    func empty(withReports: Bool, now: Int64) {
        revision += 1
        for place in places.keys.sorted() { write(nil, at: place, now: now) }
        changes.formUnion(rollouts.keys)
        rollouts = [:]
        rolloutTamperedAt = now
        disturbedAt = now
        guard withReports else { return }
        for machine in reports.keys { tamperedAt[machine] = now }
        reports = [:]
        reportsChangedAt = now
    }

    var backup: Backup { Backup(places: places, rollouts: rollouts, reports: reports, revision: revision) }

    /// Everything is as it was, and revisions count on from there.
    func restore(_ backup: Backup, now: Int64) {
        for machine in Set(reports.keys).union(backup.reports.keys)
        where reports[machine] != backup.reports[machine] {
            tamperedAt[machine] = now
        }
        changes.formUnion(places.keys)
        changes.formUnion(backup.places.keys)
        rollouts = backup.rollouts.mapValues { RolloutEntry(value: $0.value, revision: $0.revision, at: now) }
        rolloutTamperedAt = now
        revision = backup.revision
        reports = backup.reports
        places = backup.places.mapValues { Entry(value: $0.value, revision: $0.revision, at: now) }
        changedAt = now
        reportsChangedAt = now
        disturbedAt = now
    }
}
