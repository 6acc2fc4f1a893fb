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

    /// Something that would not work, and for which client.
    package struct Problem: Sendable {
        package let failure: Failure
        /// Nil when it concerns several clients, such as a key that they share.
        package let client: ClientName?
    }

    /// A file that is an argument of an `exec` action, no output, and that other users can change.
    package struct UnguardedArgument: Hashable, Sendable {
        package let action: ActionID
        package let path: String
    }

    /// In the order of the clients' names.
    package let secrets: [Secret]
    package let problems: [Problem]
    /// Why the files of clients that receive their secrets offer none, whether one is needed now or not.
    package let sourceFailures: [ClientName: Failure]
    /// The lines missing from the sandboxes of the writing units.
    package let dropIns: [UnitDropIn]
    /// Users whose writer's socket works now, but is not there after a reboot.
    package let idleWriters: [String]
    /// Failures with which `run` or `run --once` still serves. For each client with `verify: true`, they show why Apple cannot
    /// be asked about new secrets. They also show targets that only `run --once` reaches while no service listens, and a clock
    /// that may be ahead.
    package let limitations: [Failure]
    /// The reasons why etcd would not let this machine in, by the files that can be read. `run` still serves with them.
    package let storeFailures: [Failure]
    /// The protections that the units' settings in effect weaken or remove, a line each. `run` still serves with them.
    package let warningsOfUnits: [String]
    /// By the actions' names. `run` still serves with them.
    package let unguardedArguments: [UnguardedArgument]
    /// The state directory, if it is missing and systemd creates it when the service starts.
    package let stateDirectoryMadeAtStart: AbsolutePath?
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
            orphans = []
            problems = [Problem(failure: Failure(.systemError, at: .named("the kernel's random source")), client: nil)]
            (dropIns, idleWriters, limitations, storeFailures, stateDirectoryMadeAtStart) = ([], [], [], [], nil)
            (warningsOfUnits, unguardedArguments, sourceFailures) = ([], [], [:])
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
        var found = DryRunProblems(loaded, settings, rotation, reader, unit, inEffect)
        found.findAll(at: now)
        problems = found.problems
        unguardedArguments = found.unguardedArguments
        stateDirectoryMadeAtStart = found.stateDirectoryMadeAtStart
        warningsOfUnits = [found.inEffect?.weakness, found.warning(ofControlGroupAt: socket)].compactMap(\.self)
        dropIns = found.review?.dropIns ?? []
        idleWriters = found.review?.idleWriters ?? []
        storeFailures =
            loaded.store.map {
                StoreLoginFiles.failures(
                    of: $0, as: settings.identity, readBy: found.identity(of: PackageUnit.store), at: now.wall)
            } ?? []
        limitations =
            found.limitations
            + configuration.clients.sorted { $0.key < $1.key }.compactMap { name, client in
                client.verify ? reader.executor.services.verifier.problem(for: name) : nil
            }
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
