import AppleClientSecret
internal import Failures
import Model

/// The last seen content of a file, and its history.
struct FileState: Sendable {
    private var spec: FileSpec
    var reading: Reading<FileObservation>
    private(set) var writtenAt: WallTime?
    /// Whether a write has failed since the file was last read: it may hold the old content or the new.
    private var isUncertain = false
    /// Since when another program keeps it from being written, because it has it open for writing.
    private var openSince: BootTime?
    /// Whether it was written as, or seen to be, a file that holds only a secret.
    private var wasWhole = false
    /// Whether the file may hold other programs' lines. It is an environment file, and another program has written there or our
    /// variable is there.
    private(set) var isShared = false
    /// Whether there was a change notice of an environment file since it was last read.
    private var wasNoticed = false
    var drift = DriftRepairs()
    /// When it was last repaired, as often as counts, also by earlier runs.
    private(set) var repairedAt: [WallTime] = []

    init(_ spec: FileSpec, next: JobID) {
        self.spec = spec
        reading = Reading(countsFrom: next)
    }

    /// The secrets that programs find at the path of a refused file; nil while it is not refused, or if not known.
    private(set) var seen: [FileSlot: SlotObservation]?

    // MARK: State

    /// Whether it holds only the daemon's own content, as far as this daemon has seen.
    var isOwn: Bool { wasWhole && !isShared }

    /// Nil until the file was read.
    var observed: FileObservation? { reading.value }

    /// The secrets that programs find in its slots, as far as is known.
    var slots: [FileSlot: SlotObservation]? { seen ?? observed?.slots }

    /// Whether ``observed`` still counts.
    var isFresh: Bool { reading.isFresh }

    /// Whether a slot held a secret when the file was last observed, with the configured mode and group.
    func holds(_ secret: SecretInfo, in slot: FileSlot) -> Bool {
        !isUncertain && observed?.isAsConfigured == true
            && slots?[slot]?.issued?.fingerprint == secret.fingerprint
    }

    /// Whether the file, when it was last observed, held all of these secrets.
    func holds(_ wanted: [FileSlot: SecretInfo]) -> Bool { wanted.allSatisfy { holds($1, in: $0) } }

    /// Whether its content, when it was last observed, was right, whatever its mode and group are.
    private func hasContent(_ wanted: [FileSlot: SecretInfo]) -> Bool {
        !isUncertain && observed?.isExact == true
            && wanted.allSatisfy { slots?[$0]?.issued?.fingerprint == $1.fingerprint }
    }

    /// Whether another program has had it open for writing for so long that it is written even so.
    func mayWriteOverWriters(_ timer: inout WakeTimer) -> Bool {
        openSince.map { timer.reached($0 + Self.longestWaitForWriters) } ?? false
    }

    /// Far longer than a program needs to write an output, and far shorter than a secret can wait.
    static let longestWaitForWriters: Seconds = 600

    // MARK: Events

    /// Judges the observed content.
    mutating func judge(_ wanted: [FileSlot: SecretInfo], at now: BootTime) {
        let isGood = holds(wanted)
        if isGood { openSince = nil }
        drift.see(
            isGood: isGood, hasContent: hasContent(wanted), wanted: wanted.mapValues(\.fingerprint), at: now)
    }

    /// Records a change notice.
    mutating func notice(at now: Now) {
        reading.notice(at: now)
        drift.notice(at: now.boot)
        wasNoticed = spec.format.isShared
    }

    /// Has the file read again under another configuration.
    ///
    /// - Parameter spec: how it is written now. A file written in another way before is no drift.
    mutating func adopt(_ spec: FileSpec, next: JobID) {
        reading.readAgain(next: next)
        if wasNoticed, !spec.format.isShared { isShared = true }
        if !spec.isWritten(as: self.spec) { drift.forgetContent() }
        self.spec = spec
    }

    /// Records its seen content.
    mutating func see(_ observation: FileObservation, by job: JobID) {
        reading.end(observation, by: job)
        isUncertain = false
        seen = nil
        if observation.exists {
            if spec.format.isShared {
                if wasNoticed || !observation.slots.isEmpty { isShared = true }
            } else if observation.slots[.whole]?.issued != nil, !observation.otherLines {
                wasWhole = true
            }
        }
        wasNoticed = false
    }

    /// Records that it was written. Returns whether bad content was replaced that an application may have read.
    mutating func wrote(_ secrets: [FileSlot: SecretInfo], isBeingRead: Bool, at now: Now) -> Bool {
        writtenAt = now.wall
        openSince = nil
        wasWhole = secrets[.whole] != nil
        isShared = !wasWhole
        let count = drift.repairCount
        let wasRead = drift.wrote(secrets.mapValues(\.fingerprint), isBeingRead: isBeingRead, at: now.boot)
        if drift.repairCount > count { repairedAt = repairedAt.suffix(RepairLimit.standard.count - 1) + [now.wall] }
        if !holds(secrets) {
            drift.undone(at: now.boot)
            notice(at: now)
        }
        return wasRead
    }

    mutating func writeFailed(_ failure: Failure, at now: BootTime) {
        // Then nothing was written.
        guard failure.code == .openForWriting else {
            isUncertain = true
            openSince = nil
            return
        }
        openSince = openSince ?? now
    }

    /// Takes what a client's record says of earlier repairs. Each client of the file has them in its own.
    mutating func recall(repairs: [WallTime], at now: Now) {
        guard repairedAt.isEmpty else { return }
        repairedAt = repairs
        for moment in repairs where moment <= now.wall {
            drift.recallRepair(at: now.boot + Seconds(moment.secondsSinceEpoch - now.wall.secondsSinceEpoch))
        }
    }

    /// See ``FileStates/readFailed(_:at:next:)``.
    mutating func readFailed(_ failure: Failure, next: JobID) {
        reading.readAgain(next: next)
        seen = failure.seen ?? seen
    }
}

/// The files that secrets are written to.
struct FileStates: Sendable {
    private var all: [AbsolutePath: FileState] = [:]
    /// Files that held lines other than our variables when they last existed, whatever the current configuration is. Records
    /// have this too, but the state directory may be unusable.
    private(set) var shared: Set<AbsolutePath> = []

    subscript(_ path: AbsolutePath) -> FileState? {
        _read { yield all[path] }
        _modify { yield &all[path] }
    }

    /// Whether the seen content of a file still counts.
    func isFresh(_ path: AbsolutePath) -> Bool { all[path]?.isFresh == true }

    /// Every secret that was seen in a file.
    var allSecrets: [SecretInfo] {
        all.values.flatMap { ($0.observed?.slots ?? [:]).values.compactMap(\.issued) }
    }

    /// Adopts what a client's record says of its files. Observations since the start are newer.
    mutating func recall(_ record: Record, at now: Now) {
        for (path, repairs) in record.repairs { all[path]?.recall(repairs: repairs, at: now) }
        shared.formUnion(record.shared.filter { all[$0]?.observed?.exists != true })
    }

    /// Records the seen content of a file; returns whether it no longer counts as one with other lines.
    mutating func see(_ observation: FileObservation, as spec: FileSpec, by job: JobID) -> Bool {
        let wasMissing = all[spec.path]?.observed?.exists == false
        all[spec.path]?.see(observation, by: job)
        guard observation.exists else { return false }
        if observation.otherLines {
            shared.insert(spec.path)
            return false
        }
        // Foreign content in place of a whole file may be just these lines. An environment file was emptied of them, unless it was
        // missing before.
        guard observation.holdsSecret || spec.format.isShared && wasMissing else { return false }
        return shared.remove(spec.path) != nil
    }

    /// Has a file read again, because the last observation proves nothing about its content now.
    mutating func readFailed(_ failure: Failure, at path: AbsolutePath, next: JobID) {
        if failure.code.traits.contains(.showsOthersContent) { shared.insert(path) }
        all[path]?.readFailed(failure, next: next)
    }

    mutating func adopt(_ specs: [AbsolutePath: FileSpec], next: JobID) {
        let former = all
        all = specs.reduce(into: [:]) { all, entry in
            var file = former[entry.key] ?? FileState(entry.value, next: next)
            file.adopt(entry.value, next: next)
            all[entry.key] = file
        }
    }
}
