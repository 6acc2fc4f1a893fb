import Model
import Rotation

/// Every fault that can occur here; a run counts how often each of them did.
enum Fault: CaseIterable {
    // Writes.
    case writeFailed
    /// The name is there already when the call that makes it durable fails.
    case writeFailedLate
    case diskFull
    case directoryGone
    case fileHung
    /// A write that was never reported as done is undone by a power cut.
    case writeLost
    // The state directory.
    case stateUnusable
    case stateLost
    // Keys.
    case keyMissing
    case keyUnreadable
    case keySwapped
    /// The key that signs is not the one that was read.
    case keySwappedBeforeSigning
    // Time.
    case clockAhead
    case clockBack
    case clockUnsynchronised
    /// The machine starts with a clock that is years ahead, which is corrected later.
    case clockWrongAtStart
    case clockBeforeBuild
    case suspended
    /// Suspended to shortly before the daemon's next wake.
    case suspendedUntilWake
    // Death.
    case killed
    case powerCut
    // Actions.
    case actionFailed
    /// It does its work and fails nevertheless.
    case actionFailedLate
    case actionHung
    /// A failed action is retried for an application whose secret is critical or has expired.
    case retriedInEmergency
    // Apple's verdicts.
    case appleDown
    case appleWrong
    case appleFlapping
    case clientRefused
    /// Apple does not know the key that a secret was signed with.
    case newKeyRefused
    /// Apple has not been heard, and the old secret is about to become critical.
    case publishedUntried
    // Targets.
    case apiUnreachable
    case apiTokenRefused
    case apiTokenGone
    case apiWantsRest
    case apiLate
    /// The API says that it failed, and keeps the secret.
    case pushedAmbiguously
    /// The API says that it has the secret, and does not show it.
    case pushNotKept
    case deploymentFailed
    case deployedByOthers
    case placeChanged
    case placeEmptied
    case placeContested
    case placeMoved
    // Operators.
    case operatorsNotified
    case stateChangeFailed
    // Reloads.
    case reloadRefused
    case wouldNotStart
    case lifetimeShorter
    case lifetimeLonger
    case clientIDChanged
    case teamChanged
    case keyIDChanged
    case keyOfClientChanged
    case clientRemoved
    case clientAdded
    case outputMoved
    case actionAdded
    // Other programs.
    case linesEdited
    /// A file is saved as it was before the last renewal.
    case oldContentPutBack
    /// Half a secret replaces a whole one.
    case contentTorn
    case fileDeleted
    case modeChanged
    case fileContested
    case secretForged
    case secretMadeElsewhere
    // Sharing.
    case sharedWrite
    case sharedRun
    case environmentSlotWritten

    /// How long a step of the clock or a suspend is.
    enum Size: CaseIterable {
        case seconds
        case minutes
        case hours
        case days
        case months
        case years

        static let ofSuspends: [Size] = [.minutes, .hours, .days, .months]

        /// A span of this size, in seconds.
        func draw(_ random: inout some RandomNumberGenerator) -> Int64 {
            let unit: Int64 =
                switch self {
                case .seconds: 1
                case .minutes: 60
                case .hours: 3600
                case .days: 86_400
                case .months: 30 * 86_400
                case .years: 365 * 86_400
                }
            return Int64.random(in: unit...9 * unit, using: &random)
        }
    }

    /// The moments of deaths without targets, and with some.
    static let boundaries = Boundary.all(of: Kind.allCases.filter { ![.push, .readTarget].contains($0) })
    static let boundariesWithTargets = Boundary.all(of: Kind.allCases)

    enum Kind: Sendable, CaseIterable {
        case readConfiguration
        case checkConfiguration
        case readKey
        case recall
        case observe
        case mint
        case keep
        case verify
        case publish
        case push
        case readTarget
        case run
        case probe
        case recallReportedStates
        case keepReportedStates
        case tidyRecords

        init(_ work: Work) {
            self =
                switch work {
                case .readConfiguration: .readConfiguration
                case .checkConfiguration: .checkConfiguration
                case .readKey: .readKey
                case .recall: .recall
                case .observe, .readSource, .readStore, .readReports: .observe
                case .mint: .mint
                case .keep: .keep
                case .verify: .verify
                case .push: .push
                case .readTarget: .readTarget
                case .publish, .putInStore, .putRollout, .putReport, .forgetReport, .writeMetrics, .removeMetrics:
                    .publish
                case .run: .run
                case .probe: .probe
                case .recallReportedStates: .recallReportedStates
                case .keepReportedStates: .keepReportedStates
                case .tidyRecords: .tidyRecords
                }
        }
    }

    /// Each fault in words, those of time in every size and deaths at every moment.
    static let allWords = allCases.flatMap { fault -> [String] in
        switch fault {
        case .clockAhead, .clockBack: Size.allCases.map { "\(fault) \($0)" }
        case .suspended: Size.ofSuspends.map { "\(fault) \($0)" }
        case .killed: boundariesWithTargets.map { "\(fault) \($0)" }
        default: ["\(fault)"]
        }
    }
}
