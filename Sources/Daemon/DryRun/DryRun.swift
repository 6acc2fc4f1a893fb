import AppleClientSecret
package import Config
import Failures
import Keys
import Linux
package import Model
package import Rotation

/// The decisions of `run` with a configuration, found by the jobs that only read: nothing is written, started or locked.
package struct DryRun: Sendable {
    /// The decision of `run` about one client's secret.
    package struct Secret: Sendable {
        package let client: ClientName
        package let decision: RenewalDecision
        /// Its outputs that do not hold the secret that would be kept, and would be written.
        package let outputsToWrite: [AbsolutePath]
        /// Its targets that were not given the secret that would be kept, and would be.
        package var targetsToPush: [TargetName] = []
    }

    /// In the order of the clients' names.
    package let secrets: [Secret]
    package let findings: DryRunFindings
    /// Why the files of clients that receive their secrets offer none, whether one is needed now or not.
    package let sourceFailures: [ClientName: Failure]
    /// Outputs of the configuration that was last adopted which are no longer outputs, and hold a valid secret or cannot be
    /// read.
    package let orphans: [OrphanedOutput]

    /// Reads every key, every output and the state directory. Blocks.
    ///
    /// - Parameters:
    ///   - socket: the daemon's status socket; the writers' sockets are in the same directory.
    ///   - unit: the one that runs the daemon; nil if systemd does not, or cannot be asked.
    ///   - inEffect: the units' settings, as root sees the named files; nil: as this process does.
    package init(
        of loaded: LoadedConfiguration, from settings: ConfigurationSource, socket: String, unit: ServiceUnit? = nil,
        inEffect: UnitsInEffect? = nil
    ) {
        let configuration = loaded.configuration
        let now = Now.current
        _ = PrivateKeyHeap.start()
        guard let reader = DryRunReader(loaded, from: settings, socket: socket) else {
            secrets = []
            sourceFailures = [:]
            orphans = []
            let failure = Failure(.systemError, at: .named("the kernel's random source"))
            findings = DryRunFindings(problems: [DryRunFindings.Problem(failure: failure, client: nil)])
            return
        }
        let rotation = reader.rotation(of: configuration, from: settings, at: now)
        let decisions = rotation.decisions(at: now)
        secrets = configuration.clients.sorted { $0.key < $1.key }.map {
            Secret($0, $1, decisions[$0] ?? .wait, rotation)
        }
        sourceFailures = rotation.sourceFailures.filter { configuration.clients[$0.key]?.source?.isStore == false }
        let former = settings.loadAdopted()?.configuration
        let left =
            reader.executor.orphans(among: former?.places ?? [], excluding: configuration.places)
            + (former?.orphans(behindAPIsIn: configuration, reader.secret) ?? [])
        orphans = left.filter { $0.expiresAt.map { now.wall < $0 } != false }
        var review = DryRunReview(loaded, settings, rotation, reader, unit, inEffect)
        findings = review.findAll(at: now, socket: socket)
    }
}

extension DryRun.Secret {
    fileprivate init(
        _ name: ClientName, _ client: ClientConfiguration, _ decision: RenewalDecision, _ rotation: Rotation
    ) {
        self.client = name
        self.decision = decision
        outputsToWrite = Set(client.outputs.map(\.path)).sorted().filter { !rotation.isGood($0) }
        targetsToPush = client.targets.map(\.target).filter { !rotation.isGood($0) }
    }
}
