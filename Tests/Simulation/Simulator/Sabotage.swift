import AppleClientSecret
import Failures
import Model
import Rotation

/// Mistakes planted between the core and the simulated environment.
package enum Sabotage: PlantedMistake {
    /// Wakes by the wall clock come 40 days late.
    case latesWakes
    /// The core asks again and again to be woken at a moment that has passed.
    case repeatsWakes
    /// The core never hears how an action ended.
    case losesActionResults
    /// A write that never reached the disk is reported as done.
    case believesWrites
    /// A start recalls empty records from the state directory.
    case forgetsRecords
    /// An action that was never run is reported as done.
    case skipsActions
    /// Reading a file back returns what was last written, whatever it holds.
    case believesMemory
    /// A write drops the lines that another program keeps in the same file.
    case dropsForeignLines
    /// A deleted file is created again, with the daemon's lines only.
    case makesDeletedFilesAnew
    /// The core does not hear of changes to files.
    case losesNotices
    /// The core does not hear of the loss of the state directory.
    case losesStateLosses
    /// A file with several secrets gets two of them swapped.
    case mixesUpSlots
    /// A file that another program writes too is written only in part.
    case tearsWrites
    /// After a suspend the daemon sleeps for the same time once more.
    case sleepsAfterSuspends
    /// Every later read of a key returns its first content.
    case readsKeysOnce
    /// A failed action is retried without a pause.
    case retriesAtOnce
    /// A failed action is retried no sooner when its application's secret is running out.
    case forgetsEmergencies
    /// A request to Apple that has failed is repeated without a pause.
    case asksTooOften
    /// Apple's refusal is taken for an acceptance.
    case publishesRefused
    /// That Apple is not reached is taken for a refusal.
    case waitsForApple
    /// Apple's acceptance of a secret that it has refused before is never heard.
    case forgetsVerdicts
    /// Requests are never answered.
    case losesAnswers
    /// The core never hears how an action of `on_state_change` ended.
    case losesNoticeResults
    /// A restart forgets what operators were notified of.
    case forgetsReportedStates
    /// Health says that every client is ok.
    case claimsAllIsWell
    /// A refused configuration is not reported.
    case hidesRefusals
    /// The daemon never reports that it is ready.
    case isNeverReady
    /// A forged secret counts as signed by the key that its key id names.
    case believesForgedSecrets
    /// A push that has failed is reported as done.
    case believesPushes
    /// A start recalls from the state directory nothing of what was pushed.
    case forgetsPushes
    /// A push that has failed is repeated without a pause.
    case pushesAtOnce
    /// The core does not hear for how long an API wants to be left alone.
    case losesRests
    /// A secret is put into the place of another target.
    case mixesUpTargets
    /// Reading a target says that it holds what was pushed there, whatever it holds.
    case believesPlaces
    /// A deployment that has begun is reported as done.
    case believesDeployments
    /// The kernel is said to vouch for every clock.
    case believesClocks

    package var breaks: Set<Invariant> {
        switch self {
        case .latesWakes, .repeatsWakes: [.wake]
        case .forgetsRecords, .retriesAtOnce, .forgetsEmergencies, .asksTooOften, .forgetsPushes, .pushesAtOnce,
            .losesRests:
            [.pace]
        case .publishesRefused: [.verdicts]
        case .waitsForApple: [.health, .verdicts]
        case .losesActionResults: [.applications, .health, .answers]
        case .believesPlaces, .sleepsAfterSuspends: [.applications]
        case .believesPushes, .believesDeployments, .believesWrites, .skipsActions, .losesNotices, .readsKeysOnce,
            .believesMemory, .forgetsVerdicts:
            [.applications, .health]
        case .dropsForeignLines, .makesDeletedFilesAnew, .mixesUpSlots, .tearsWrites, .mixesUpTargets: [.outputs]
        case .losesAnswers: [.answers]
        case .losesStateLosses: [.applications, .memory]
        case .isNeverReady: [.ready]
        case .believesForgedSecrets: [.applications, .outputs, .health]
        case .losesNoticeResults, .forgetsReportedStates: [.stateChangeActions]
        case .claimsAllIsWell, .hidesRefusals: [.health]
        case .believesClocks: [.clock]
        }
    }

    package func canShow(in seed: UInt64) -> Bool {
        switch self {
        case .believesPushes, .forgetsPushes, .pushesAtOnce, .losesRests, .mixesUpTargets, .believesPlaces,
            .believesDeployments:
            Life.pushes(seed)
        default: true
        }
    }

    func hears(_ input: Input) -> Bool {
        if self == .losesNotices, case .changeNoticed(.file) = input { return false }
        if self == .losesStateLosses, case .stateLost = input { return false }
        return true
    }

    func twist(_ secrets: [FileSlot: SecretInfo]) -> [FileSlot: SecretInfo] {
        let slots = secrets.keys.sorted { "\($0)" < "\($1)" }
        guard self == .mixesUpSlots, slots.count > 1 else { return secrets }
        var secrets = secrets
        (secrets[slots[0]], secrets[slots[1]]) = (secrets[slots[1]], secrets[slots[0]])
        return secrets
    }

    /// Apple's answer about a secret, or what was planted instead.
    func twist(
        _ answer: Result<Outcome, Failure>, about client: ClientName, wasRefused: Bool
    ) -> Result<Outcome, Failure> {
        let refusal = Failure(.refusedByApple, at: .client(client), detail: "invalid_client")
        switch (self, answer) {
        case (.publishesRefused, .failure(let failure)) where failure.code == .refusedByApple:
            return .success(.accepted)
        case (.waitsForApple, .failure(let failure)) where failure.code == .verdictUnknown: return .failure(refusal)
        case (.forgetsVerdicts, .success) where wasRefused: return .failure(refusal)
        default: return answer
        }
    }

    /// What a job finds, or what was planted instead; nil when it is never heard of.
    func twist(_ job: Job, _ result: Result<Outcome, Failure>) -> Result<Outcome, Failure>? {
        switch (self, job.work, result) {
        case (.losesActionResults, .run, _) where job.resource.stateChangeActionID == nil: return nil
        case (.losesNoticeResults, _, _) where job.resource.stateChangeActionID != nil: return nil
        case (.forgetsReportedStates, .recallReportedStates, _):
            return .success(.recalledReportedStates(ReportedStates()))
        case (.forgetsRecords, .recall, _): return .success(.recalled(Record()))
        case (.forgetsPushes, .recall, .success(.recalled(var record))):
            record.pushed = [:]
            return .success(.recalled(record))
        case (.losesRests, _, .failure(let failure)) where failure.retryAfter != nil:
            return .failure(Failure(failure.code, at: failure.place))
        default: return result
        }
    }
}
