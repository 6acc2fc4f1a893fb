import AppleClientSecret

/// How soon something that failed is tried again. The pace doubles with every failure, up to a bound that says how
/// long a mended cause may go unnoticed.
enum Retry {
    /// A key, a disk: what an administrator mends and then watches for.
    static let localBound: Seconds = 60
    /// A hook or a unit's job: trying costs others something.
    static let remoteBound: Seconds = 900
    /// A unit whose job failed three times needs a person.
    static let unitBound: Seconds = 3600
    /// Whatever has to be told to an application whose secret is critical or has expired: people cannot log in, or soon
    /// will not be able to, and what is mended must not cost them a quarter of an hour more.
    static let emergencyBound: Seconds = 60
    /// A file that is stirred is looked at again this soon although it could not be looked at before; somebody who
    /// stirs it all the time is no reason for more.
    static let observationPace: Seconds = 1
    /// A lasting trouble is written to the journal again after this long.
    static let reminder: Seconds = 3600

    /// The pause after the `failures`-th failure in a row, in milliseconds.
    ///
    /// - Parameters:
    ///   - isEmergency: whether an application that waits for it holds a secret that is critical or has expired.
    ///   - jitter: from 0 to 1; up to a fifth of the pause is taken off, never added, so that the bounds hold.
    static func pause(
        of resource: Resource, action: Action?, failure: Failure.Code, failures: Int, isEmergency: Bool = false,
        jitter: Double
    ) -> Int64 {
        let isTired = needsPerson(action, failure, failures: failures)
        let (first, bound): (Int64, Seconds) =
            switch resource {
            case .action, .stateChangeAction: (30, isTired ? unitBound : isEmergency ? emergencyBound : remoteBound)
            default: (1, localBound)
            }
        let doubled = isTired ? bound.count : min(bound.count, first << Int64(min(max(failures - 1, 0), 12)))
        return doubled * 1000 - Int64(Double(doubled) * 200 * jitter)
    }

    /// Whether a unit's job has failed so often that it is tried hourly, in an emergency too: each attempt stops and
    /// starts somebody's program, and whoever mends that starts it, which has it read the new secret.
    static func needsPerson(_ action: Action?, _ failure: Failure.Code, failures: Int) -> Bool {
        switch action {
        case .unit, .signal: failures >= 3 && failure.isOfJob
        case .exec, nil: false
        }
    }
}

extension Failure.Code {
    /// Whether what was found at a file's path holds no secret for anybody, whoever looks.
    var leavesNothingToRead: Bool {
        switch self {
        case .isDirectory, .notADirectory, .notARegularFile: true
        default: false
        }
    }

    /// Whether an owner, a mode, an attribute or a link stood in the way, before anything was written: that is mended by
    /// changing it, of which there is notice.
    var isOfPermission: Bool {
        switch self {
        case .permissionDenied, .foreignOwner, .unguardedDirectory, .untrustedLink, .isImmutable: true
        default: false
        }
    }

    /// Whether a unit's job was run and failed: trying again stops and starts somebody's program once more. What was
    /// not even begun, such as one that a rule is missing for, costs nobody anything.
    fileprivate var isOfJob: Bool {
        switch self {
        case .jobFailed, .jobTimedOut, .jobCanceled, .jobDependency, .jobSkipped, .unitEnded, .actionFailed: true
        default: false
        }
    }
}

/// Randomness that the seed and the question determine, so that a run can be replayed.
struct Chance: Hashable, Sendable {
    let seed: UInt64

    /// A number from 0 up to 1, the same for the same question: FNV-1a over its text, mixed by SplitMix64's finisher.
    func draw(_ question: String) -> Double {
        var hash = seed ^ 0xcbf2_9ce4_8422_2325
        for byte in question.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        hash ^= hash >> 31
        return Double(hash >> 11) / Double(UInt64(1) << 53)
    }
}
