import Actions
package import Config
import Failures
import Keys
import Linux
import Model
package import Rotation

/// Why a daemon would not serve clients well, found without one, however good the published secrets are. These are the reasons
/// of ``Rotation`` after every job that only reads, and the problems that would keep it from writing.
///
/// Only the user that runs the daemon can tell.
package struct OfflineReasons: Sendable {
    private var all: [ClientName: (health: HealthState, failure: Failure)] = [:]

    /// Reads every key, every output and the state directory. Blocks.
    ///
    /// - Parameters:
    ///   - socket: the daemon's status socket; the writers' sockets are in the same directory.
    ///   - unit: the one that runs the daemon; nil if systemd does not, or cannot be asked.
    package init(
        of loaded: LoadedConfiguration, from settings: ConfigurationSource, socket: String, unit: ServiceUnit?
    ) {
        _ = PrivateKeyHeap.start()
        guard let reader = DryRunReader(loaded, from: settings, socket: socket) else { return }
        let configuration = loaded.configuration
        let now = Now.current
        let rotation = reader.rotation(of: configuration, from: settings, at: now)
        var review = unit.map { SandboxReview($0) }
        let bad = configuration.files.values.filter { !rotation.isGood($0.path) }
        let unwritable = reader.problems(with: bad.map { ($0, mayCreate: rotation.mayCreate($0.path)) })
        let ofDaemon =
            reader.problemsWithState(&review) + reader.problems(withMetricsFile: configuration.metricsFile, &review)
        let actions = Set(configuration.clients.values.flatMap(\.onChange))
        let ofUnits = UnitAction(cancel: nil).problems(with: Array(actions), as: settings.identity.user)
        for (name, client) in configuration.clients {
            var found = rotation.impairment(of: name, at: now)
            // Credentials are there only while the service runs.
            if settings.credentials == nil, found?.failure.code == .credentialMissing { found = nil }
            let failures =
                client.outputs.compactMap { unwritable[$0.path] }
                + client.onChange.compactMap { action in
                    review?.problem(with: action) ?? ExecAction.problem(with: action, as: settings.identity)
                        ?? ofUnits[action]
                } + ofDaemon
            let hiddenSource = client.source?.path.flatMap { review?.problem(withSource: $0) }
            let failure = hiddenSource ?? failures.first { !$0.code.traits.contains(.ofReader) }
            all[name] = found ?? failure.map { (.degraded, $0) }
        }
    }

    /// No client is better than its reason, which the daemon names before its consequences.
    package func judge(_ evaluations: [OutputsHealth]) -> [OutputsHealth] {
        evaluations.map { found in
            // By a clock that is not trusted nothing else is known for certain.
            guard let reason = all[found.client], found.failure?.place != .clock else { return found }
            // An output on a disk that does not respond may hold anything.
            if found.health == nil, found.failure?.code == .notResponding { return found }
            return found.judged(
                max(found.health ?? .ok, reason.health), reason.failure.concerning(found.client))
        }
    }
}
