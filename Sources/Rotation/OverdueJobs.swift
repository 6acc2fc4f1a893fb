package import AppleClientSecret
internal import Failures
import Model

/// Jobs that take too long: when and as which failure they are reported. The daemon still waits for them.
extension Rotation {
    /// A job that runs for longer is reported as not responding.
    package static let overdueAfter: Seconds = 30
    /// An action on a unit whose job lasts longer is reported. By systemd's defaults (DefaultTimeoutStopSec=,
    /// DefaultTimeoutStartSec=) a restart ends after 180 s, and one without a limit may never end. The daemon still waits for
    /// the job: another order would restart the application a second time.
    static let unitOverdueAfter: Seconds = 300

    /// Has the work for overdue jobs planned without them.
    mutating func planOverdue(at now: Now) {
        for resource in jobs.findOverdue(at: now) {
            touch(resource)
            // The clients that concern the store are not planned because it is being read, so touch them here.
            if resource == .store { touchClientsOnStore() }
        }
    }

    /// The failure to report for an overdue job. Nil for a push, the store or a request to Apple, which have their own
    /// timeouts.
    func overdueFailure(of resource: Resource) -> Failure? {
        guard jobs.isOverdue(resource) else { return nil }
        return switch resource {
        case .configuration: Failure(.notResponding, at: .named(configurationWatch.path))
        case .key(let name): Failure(.notResponding, at: .key(name))
        case .client(let name), .record(let name): Failure(.notResponding, at: .client(name))
        case .source(let name):
            Failure(
                .notResponding, at: index[name]?.entry.source?.path.map { .path($0) } ?? .client(name))
        case .file(let path):
            index.specs[path]?.owner.map { .silentWriter(of: $0, at: path) } ?? Failure(.notResponding, at: .path(path))
        case .probe(let id): Failure(.notResponding, at: .action(id))
        case .action(let id):
            Failure(
                .jobTimedOut, at: .action(id),
                detail: "it has not ended after \(Self.unitOverdueAfter.count) s, and is still waited for")
        case .target, .verification, .store, .share, .rollout, .report, .fleet, .stateChangeAction: nil
        case .state: Failure(.notResponding, at: .named("the state directory"))
        case .metricsFile(let path): Failure(.notResponding, at: .path(path)).ofMetricsFile(path, remedy: nil)
        }
    }

    /// The failure to show for a place behind an API whose service has not answered; nil while it is not overdue. Renewals and
    /// single runs still wait for it, and reloads do not: an API may take longer than ``overdueAfter``.
    func overdueService(of target: TargetName) -> Failure? {
        guard jobs.isOverdue(.target(target)) else { return nil }
        return Failure(
            .notResponding, at: .target(target),
            detail: "the service that pushes to it has not answered for \(Self.overdueAfter.count) s",
            remedy: .forStuckService(PackageUnit.pusher(of: target)))
    }

    /// The same for one client. A shared action whose job lasts concerns those that wait for it.
    func overdueFailure(of resource: Resource, for client: ConfiguredClient) -> Failure? {
        if case .action(let id) = resource, !owes(client, id) { return nil }
        return overdueFailure(of: resource)
    }
}

extension Work {
    /// How long it may take before it is reported; nil for a program, a signal and a deployment, which have timeouts of their own.
    var limit: Seconds? {
        switch self {
        case .run(.unit, _): Rotation.unitOverdueAfter
        case .run: nil
        default: Rotation.overdueAfter
        }
    }
}

extension Failure {
    /// The writer's client reports the same, once it gives up.
    fileprivate static func silentWriter(of user: String, at path: AbsolutePath) -> Failure {
        Failure(
            .writerSilent, at: .path(path), cause: ErrorNumber.timedOut, detail: user,
            remedy: .forStuckService(PackageUnit.writer(of: user)))
    }

    /// Whether a writer did not answer in time.
    var isSilentWriter: Bool { code == .writerSilent && cause == ErrorNumber.timedOut }
}
