import AppleClientSecret
import Rotation

/// What lies in a fleet's store, at which revisions; and who has put it there, which no machine is told.
final class Noticeboard {
    /// What lies in one place.
    struct Entry: Hashable {
        let value: Offer
        let revision: Int64
        /// When it was put there, in milliseconds of the boot clock.
        let at: Int64
    }

    /// What a machine's place for its report holds.
    struct Report: Hashable {
        /// Nil for what is no report.
        let value: HostReport?
        let instance: UInt64
        let revision: Int64
        let at: Int64
    }

    /// A put that is carried out after it was said to have failed.
    private struct LatePut {
        let at: Int64
        let secret: SecretInfo
        let place: StorePlace
        let revision: Int64
    }

    /// Everything that a backup holds.
    struct Backup {
        fileprivate let places: [StorePlace: Entry]
        fileprivate let reports: [String: Report]
        fileprivate let revision: Int64
    }

    /// Before everything.
    static let longAgo: Int64 = -1 << 60

    private(set) var places: [StorePlace: Entry] = [:]
    private(set) var reports: [String: Report] = [:]
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
    var troubledAt = Noticeboard.longAgo
    /// When a place has last changed, and when what machines report.
    private(set) var changedAt: Int64 = 0
    private(set) var reportsChangedAt: Int64 = 0

    // MARK: Machines

    /// Puts a secret if the place was last changed at this revision; nil when it was changed at another one.
    func put(_ secret: SecretInfo, at place: StorePlace, ifAt expected: Int64, now: Int64) -> Int64? {
        if let entry = places[place], entry.value == .secret(secret) { return entry.revision }
        guard places[place]?.revision ?? 0 == expected else { return nil }
        write(.secret(secret), at: place, now: now)
        return revision
    }

    /// Has a put take effect at a later moment.
    func putLate(_ secret: SecretInfo, at place: StorePlace, ifAt expected: Int64, moment: Int64) {
        late.append(LatePut(at: moment, secret: secret, place: place, revision: expected))
    }

    /// Puts a machine's report if its place was last changed at this revision; nil when it was changed at another one.
    func put(_ report: HostReport, of machine: String, _ instance: UInt64, ifAt expected: Int64, now: Int64) -> Int64? {
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

    // MARK: Time

    var nextMoment: Int64? { late.map(\.at).min() }

    /// Carries out the puts that come late.
    func pass(until now: Int64) {
        for put in late where put.at <= now {
            _ = self.put(put.secret, at: put.place, ifAt: put.revision, now: now)
        }
        late.removeAll { $0.at <= now }
    }

    /// The places that have changed since this was last called.
    func takeChanges() -> Set<StorePlace> {
        defer { changes = [] }
        return changes
    }

    // MARK: Strangers

    private func write(_ value: Offer?, at place: StorePlace, now: Int64) {
        revision += 1
        places[place] = value.map { Entry(value: $0, revision: revision, at: now) }
        changes.insert(place)
        changedAt = now
    }

    /// Somebody who is no machine puts something into a place, or empties it.
    func tamper(_ place: StorePlace, with value: Offer?, now: Int64) {
        write(value, at: place, now: now)
        troubledAt = now
    }

    /// Somebody puts a report under a name.
    func impersonate(_ machine: String, _ report: HostReport?, _ instance: UInt64, now: Int64) {
        revision += 1
        reports[machine] = Report(value: report, instance: instance, revision: revision, at: now)
        tamperedAt[machine] = now
        impostureAt[machine] = now
        reportsChangedAt = now
    }

    /// Everything is gone, or the secrets alone.
    func empty(withReports: Bool, now: Int64) {
        for place in places.keys.sorted() { write(nil, at: place, now: now) }
        troubledAt = now
        guard withReports else { return }
        for machine in reports.keys { tamperedAt[machine] = now }
        reports = [:]
        reportsChangedAt = now
    }

    var backup: Backup { Backup(places: places, reports: reports, revision: revision) }

    /// Everything is as it was, and revisions count on from there.
    func restore(_ backup: Backup, now: Int64) {
        for machine in Set(reports.keys).union(backup.reports.keys)
        where reports[machine] != backup.reports[machine] {
            tamperedAt[machine] = now
        }
        changes.formUnion(places.keys)
        changes.formUnion(backup.places.keys)
        revision = backup.revision
        reports = backup.reports
        places = backup.places.mapValues { Entry(value: $0.value, revision: $0.revision, at: now) }
        changedAt = now
        reportsChangedAt = now
        troubledAt = now
    }
}
