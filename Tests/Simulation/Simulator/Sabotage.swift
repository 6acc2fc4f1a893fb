import AppleClientSecret
import Rotation

/// Mistakes planted at the seam between the core and the world, each of which the simulator has to notice: a simulator
/// that finds nothing may simply not be looking.
package enum Sabotage: CaseIterable {
    /// The deadline is rounded up by weeks.
    case latesWakes
    /// A failed or finished action is never heard of again.
    case losesActionResults
    /// A write is believed that never reached the disk.
    case believesWrites
    /// What lies in the state directory is not told after a start.
    case forgetsRecords
    /// An action is called done that was never run.
    case skipsActions
    /// A file is said to hold what it should whatever it holds.
    case believesMemory
    /// A write drops the lines that another program keeps in the same file.
    case dropsForeignLines
    /// A file that somebody has deleted is made anew, with the lines of the daemon's alone.
    case makesDeletedFilesAnew
    /// Nothing is heard of what other programs do to files.
    case losesNotices
    /// A file that two clients share gets their secrets the wrong way round.
    case mixesUpSlots
    /// The time that a suspend took is slept once more.
    case sleepsAfterSuspends
    /// A key is read once and never again.
    case readsKeysOnce

    func hears(_ fact: Fact) -> Bool {
        if case .losesNotices = self, case .stirred(.file) = fact { return false }
        return true
    }

    func twist(_ secrets: [Slot: Issued]) -> [Slot: Issued] {
        guard case .mixesUpSlots = self, let first = secrets.keys.first, let second = secrets.keys.dropFirst().first
        else { return secrets }
        var secrets = secrets
        (secrets[first], secrets[second]) = (secrets[second], secrets[first])
        return secrets
    }

    func twist(_ wake: Wake) -> Wake {
        guard case .latesWakes = self, let due = wake.wall else { return wake }
        return Wake(wall: due + Seconds(40 * 86_400), boot: wake.boot)
    }

    func forgets(_ job: Job) -> Bool {
        if case .losesActionResults = self, case .run = job.work { return true }
        return false
    }

    func twist(_ job: Job, _ result: Result<Outcome, Trouble>) -> Result<Outcome, Trouble> {
        switch (self, job.work) {
        case (.forgetsRecords, .recall): .success(.recalled(Record()))
        default: result
        }
    }
}
