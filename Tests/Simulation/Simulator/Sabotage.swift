import AppleClientSecret
import Rotation

/// Mistakes planted at the seam between the core and the world, each of which the simulator has to notice: a simulator
/// that finds nothing may simply not be looking.
package enum Sabotage: Sendable, CaseIterable {
    /// The deadline is rounded up by weeks.
    case latesWakes
    /// The daemon is woken again and again for a moment that has passed.
    case repeatsWakes
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
    /// Nothing is heard of what happens to the state directory.
    case losesStateLosses
    /// A file that two clients share gets their secrets the wrong way round.
    case mixesUpSlots
    /// A file that somebody else writes too is written only in part.
    case tearsWrites
    /// The time that a suspend took is slept once more.
    case sleepsAfterSuspends
    /// A key is read once and never again.
    case readsKeysOnce
    /// What failed is tried again without a pause.
    case retriesAtOnce
    /// What failed is tried again as late as ever, however little time an application has left.
    case forgetsEmergencies
    /// Whoever asks is told nothing.
    case losesAnswers
    /// Of an action of `on_state_change` it is never heard how it ended.
    case losesNoticeResults
    /// What people were told is forgotten over a restart.
    case forgetsWhatWasTold
    /// Health says that every client is well.
    case claimsAllIsWell
    /// A configuration that was refused is not mentioned.
    case hidesRefusals
    /// The daemon is never said to be ready.
    case isNeverReady
    /// Whoever puts a secret into a file is believed to have signed it with the client's own key.
    case believesForgedSecrets

    /// The promise that it breaks.
    package var breaks: Set<Invariant> {
        switch self {
        case .latesWakes, .repeatsWakes: [.wake]
        case .forgetsRecords, .retriesAtOnce, .forgetsEmergencies: [.pace]
        case .losesActionResults: [.applications, .health, .answers]
        case .believesWrites, .skipsActions, .losesNotices, .readsKeysOnce, .believesMemory: [.applications, .health]
        case .sleepsAfterSuspends: [.applications, .wake]
        case .dropsForeignLines, .makesDeletedFilesAnew, .mixesUpSlots, .tearsWrites: [.outputs]
        case .losesAnswers: [.answers]
        case .losesStateLosses: [.memory]
        case .isNeverReady: [.ready]
        case .believesForgedSecrets: [.applications, .outputs, .health]
        case .losesNoticeResults, .forgetsWhatWasTold: [.stateChangeActions]
        case .claimsAllIsWell, .hidesRefusals: [.health]
        }
    }

    func hears(_ input: Input) -> Bool {
        if self == .losesNotices, case .changeNoticed(.file) = input { return false }
        if self == .losesStateLosses, case .stateLost = input { return false }
        return true
    }

    func twist(_ secrets: [Slot: SecretInfo]) -> [Slot: SecretInfo] {
        let slots = secrets.keys.sorted { "\($0)" < "\($1)" }
        guard self == .mixesUpSlots, slots.count > 1 else { return secrets }
        var secrets = secrets
        (secrets[slots[0]], secrets[slots[1]]) = (secrets[slots[1]], secrets[slots[0]])
        return secrets
    }

    func twist(_ job: Job, _ result: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        switch (self, job.work) {
        case (.forgetsWhatWasTold, .recallReportedStates): .success(.recalledReportedStates(ReportedStates()))
        case (.forgetsRecords, .recall): .success(.recalled(Record()))
        default: result
        }
    }
}
