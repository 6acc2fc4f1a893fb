import AppleClientSecret
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Rotation
import StatusAPI

extension ChainFacts {
    /// What is known of clients, in the order of the names: with root's rights as long as this process has them, and then as the
    /// service's user, who has to work with the configuration.
    ///
    /// Blocks. Turns root into the service's user for good, where the configuration is the service's.
    ///
    /// - Parameter snapshot: the daemon's view; nil where none answers.
    static func all(
        of names: [ClientName], in settings: AcceptedConfiguration, socket: String, snapshot: Snapshot?
    ) throws(CommandFailure) -> [ChainFacts] {
        var all: [ChainFacts] = []
        let configuration = settings.loaded.configuration
        let now = WallTime.now
        let hidden = HiddenOutputSearch.byClient(of: configuration, at: now)
        let units = configuration.clients.filter { names.contains($0.key) }.mapValues { ReaderUnit.all(of: $0) }
        let published = OfflineEvaluation(of: settings.loaded, from: settings.source)
        let evaluations = published.health()
        let outputFiles = configuration.clients.filter { names.contains($0.key) }.mapValues { client in
            client.outputs.map(\.path.description).compactMap { path in
                FileStatus.following(path).map { (path: path, status: $0) }
            }
        }
        let processes =
            geteuid() == 0
            ? ReaderProcess.all(
                of: Set(units.values.joined().map(\.name)),
                variables: Set(configuration.clients.values.flatMap(\.outputs).compactMap(\.slot.variable)),
                readers: OutputReaders(of: Array(outputFiles.values.joined())), signedBy: published.keys) : nil
        let silent = DiskTimeout.silent
        for name in names {
            guard let client = configuration.clients[name], let key = configuration.keys[client.key] else { continue }
            var facts = ChainFacts(name: name, client: client, key: key, now: now)
            facts.view = snapshot?.clients.first { $0.name == name }
            facts.isSynchronised = Clocks.kernelSynchronised()
            facts.evaluation = evaluations.first { $0.client == name }
            let clockFailure = facts.evaluation?.failure.flatMap { $0.place == .clock ? $0 : nil }
            // The daemon has waited such a doubt out.
            let isWaitedOut = snapshot?.clockTrusted == true && clockFailure?.code == .clockDoubtful
            facts.clockFailure = isWaitedOut ? nil : clockFailure
            let found = PublishedSecret.all(of: name, in: settings.loaded, from: settings.source)
            for result in found {
                switch result {
                case .success(let secret): facts.published.append((secret.token.fingerprint, secret.place))
                case .failure: facts.isEachOutputRead = false
                }
            }
            facts.secretToTry = PublishedSecret.first(of: name, among: found)
            facts.signer = try? facts.secretToTry?.get().configured?.key
            let files = outputFiles[name] ?? []
            facts.readers = OutputReaders(of: files)
            facts.writtenAt =
                files.map { WallTime(secondsSinceEpoch: $0.status.identity.modified / 1_000_000_000) }.max()
            facts.hidden = hidden[name] ?? []
            facts.silent = silent
            facts.units = units[name] ?? []
            facts.processes = processes
            all.append(facts)
        }
        let path = settings.source.path
        let inEffect = ServiceUser.unitsInEffect(of: configuration, at: path)
        let unit = try ServiceUser.judge(configuration: path)
        let source = ConfigurationSource.ofCaller(path)
        guard case .success(let loaded) = source.load() else { return all }
        let dryRun = DryRun(of: loaded, from: source, socket: socket, unit: unit, inEffect: inEffect)
        for index in all.indices {
            let name = all[index].name
            all[index].decision = dryRun.secrets.first { $0.client == name }?.decision
            all[index].isForCallerOnly = ServiceUser.isForeign(to: path)
            all[index].problems = dryRun.problems.filter { $0.client == nil || $0.client == name }.map(\.failure)
                // The daemon has seen the clock run.
                .filter { $0.place != .clock || snapshot?.clockTrusted != true }
        }
        return all
    }
}
