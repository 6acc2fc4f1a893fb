import AppleClientSecret
import Linux
import Model
import Push

/// Where targets lead, and writes to APIs and deployments begun by this process, because an API may show an older state. The next
/// process knows only the places of writes.
final class PushMemory: Sendable {
    private struct Write {
        let secret: Fingerprint
        /// The place as its target writes to it; nil if it was written with another target's secret.
        let place: String?
        /// By the API's clock.
        let at: WallTime
    }

    private struct Known {
        /// Where each target leads in the configuration that the daemon uses.
        var places: [TargetName: String] = [:]
        var writes: [TargetName: Write] = [:]
        /// Places of writes by an earlier process, by the records of the state directory.
        var earlier: Set<PushOutput> = []
        /// By project: the deployment that was begun, and the last write before it.
        var deployments: [String: (begun: BegunDeployment, since: WallTime)] = [:]
        /// When the API first showed that production has the last write of a target.
        var deployed: [TargetName: BootTime] = [:]
    }

    private let known = QuietMutex(Known())

    /// Records that a secret was written to a place, or may have been, and with it those of other targets in the same document.
    func wrote(
        _ secret: Fingerprint, to output: PushOutput, with others: [TargetName: Fingerprint], at moment: WallTime
    ) {
        known.withLock { known in
            known.writes[output.target] = Write(secret: secret, place: output.place, at: moment)
            known.deployed[output.target] = nil
            for (target, secret) in others { known.writes[target] = Write(secret: secret, place: nil, at: moment) }
        }
    }

    /// Adopts the earlier writes from a client's record.
    func recall(_ outputs: some Sequence<PushOutput>) { known.withLock { $0.earlier.formUnion(outputs) } }

    /// Whether this daemon has ever written to a place, as far as is known.
    func hasWritten(to output: PushOutput) -> Bool {
        known.withLock { $0.earlier.contains(output) || $0.writes[output.target]?.place == output.place }
    }

    /// Forgets other targets' writes, and other projects' deployments.
    ///
    /// - Parameter places: where each target leads.
    func keepOnly(_ places: [TargetName: String], projects: Set<String>) {
        known.withLock { known in
            known.places = places
            known.writes = known.writes.filter { places[$0.key] != nil }
            known.earlier = known.earlier.filter { places[$0.target] != nil }
            known.deployments = known.deployments.filter { projects.contains($0.key) }
            known.deployed = known.deployed.filter { places[$0.key] != nil }
        }
    }

    /// Where targets lead, by their names; nothing of one that is not configured.
    func places(of targets: [TargetName]) -> [String: String] {
        let places = known.withLock { $0.places }
        var found: [String: String] = [:]
        for target in targets { found[target.description] = places[target] }
        return found
    }

    /// When a place was last written to, by its target or with the secrets of others in the same document.
    func lastWrite(to output: PushOutput, with others: some Sequence<TargetName>) -> WallTime? {
        known.withLock { known in
            let own = known.writes[output.target].flatMap { [nil, output.place].contains($0.place) ? $0.at : nil }
            return ([own] + others.map { known.writes[$0]?.at }).compactMap(\.self).max()
        }
    }

    /// When the last of these secrets was written to these targets. For an earlier process, the time its secret was issued
    /// counts, because the write was not before that. Secrets are issued a minute before they are minted, which covers an API
    /// whose clock is behind.
    func lastWrite(of secrets: [SecretInfo], to targets: [TargetName]) -> WallTime? {
        let writes = known.withLock { known in targets.map { known.writes[$0] } }
        let issued = secrets.map(\.issuedAt).max()
        return writes.map { write in
            write.flatMap { write in secrets.contains { $0.fingerprint == write.secret } ? write.at : nil } ?? issued
        }.compactMap(\.self).max()
    }

    /// The deployment of a project that was begun after a write.
    func deployment(of project: String, since moment: WallTime?) -> BegunDeployment? {
        known.withLock { known in
            known.deployments[project].flatMap { one in moment.map { one.since >= $0 } != false ? one.begun : nil }
        }
    }

    /// Records that production has the last write of a target.
    func isServing(_ target: TargetName, at now: BootTime) {
        known.withLock { $0.deployed[target] = $0.deployed[target] ?? now }
    }

    /// Whether it had that write so long ago that the API's answers are no longer from before.
    func wasServing(_ target: TargetName, at now: BootTime) -> Bool {
        known.withLock { $0.deployed[target].map { now >= $0 + PushPlaceReading.staleness } } == true
    }

    /// Records which deployment of a project has the content written last at that moment; nil if none has.
    func began(_ begun: BegunDeployment?, of project: String, since moment: WallTime?) {
        known.withLock { known in
            guard let begun else {
                known.deployments[project] = nil
                return
            }
            let former = known.deployments[project].flatMap { $0.begun == begun ? $0.since : nil }
            let since = moment ?? WallTime(secondsSinceEpoch: 0)
            known.deployments[project] = (begun, max(since, former ?? since))
        }
    }
}
