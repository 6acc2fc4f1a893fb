import Linux
import Model

/// A queue of jobs: one that does not respond delays only its own lane.
enum Lane: Hashable, Sendable {
    case settings
    /// A key and its passphrase, on any mount.
    case key(KeyName)
    case state
    case signing
    /// The mount that a file is on.
    case mount(String)
    /// The writer for a user.
    case writer(String)
    /// Requests to Apple.
    case verification
    /// Reads of secrets in the store, which wait for no put.
    case storeReading
    /// Other requests to the store.
    case store
    /// One for each place behind an API, whose answer may take a minute.
    case push(TargetName)
    /// One for each hook, because hooks may take long.
    case hook(ActionID)
    /// Probes of actions; one lane, so that not a hundred threads at once ask systemd and polkit.
    case probes
}

extension Executor {
    /// The lane of a job.
    func lane(of job: Job) -> Lane {
        switch job.work {
        case .readConfiguration, .checkConfiguration: .settings
        case .readKey(let name, _): .key(name)
        case .recall, .keep, .recallReportedStates, .keepReportedStates, .tidyRecords: .state
        case .mint: .signing
        case .readSource(_, let file): lane(of: file.path)
        case .readStore: .storeReading
        case .putInStore, .putRollout, .putReport, .readReports, .forgetReport: .store
        case .verify: .verification
        case .observe(let spec), .publish(let spec, _, _, _): lane(of: spec)
        case .push(_, _, let output, _), .readTarget(_, _, let output): .push(output.target)
        case .run(let action, _): .hook(action.id)
        case .probe: .probes
        case .writeMetrics(let path, _), .removeMetrics(let path): lane(of: path)
        }
    }

    /// The lane of all jobs on the mount of a path.
    func lane(of path: AbsolutePath) -> Lane {
        .mount(mounts.withLock { $0?.mount(of: path.description)?.point } ?? "/")
    }

    /// The lane of all that is done to a file.
    func lane(of spec: FileSpec) -> Lane { spec.owner.map(Lane.writer) ?? lane(of: spec.path) }
}
