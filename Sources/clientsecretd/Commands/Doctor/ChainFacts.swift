import AppleAPI
import AppleClientSecret
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Rotation
import StatusAPI

/// Facts about the way of one client's secret, by the functions with which `check`, `status`, `health --offline` and `verify`
/// judge.
struct ChainFacts {
    /// The result of asking Apple.
    enum Verdict {
        case answered(VerifyResult)
        /// Why Apple was not asked.
        case notAsked(String)
    }

    let name: ClientName
    var client: ClientConfiguration
    /// The preferred key.
    let key: KeyConfiguration
    /// The key with the key id of ``secretToTry``; nil if none is known.
    var signer: KeyConfiguration?
    let now: WallTime
    /// The findings of `check` about this client and about the parts that all clients share.
    var problems: [Failure] = []
    /// As `check` finds them among all keys of the configuration.
    var sharedKeys: [SharedKey] = []
    /// The decision of `run` about the secret, as `check` shows it.
    var decision: RenewalDecision?
    /// Why the file from which the client receives its secrets offers none; nil if it offers one.
    var sourceFailure: Failure?
    /// Why the findings of `check` hold for the caller only; nil if they hold for the daemon.
    var isForCallerOnly = false
    /// The daemon's view; nil if none answers.
    var view: ClientView?
    /// Whether the kernel calls the clock synchronised.
    var isSynchronised = true
    /// Why the clock is not trusted to judge the secret; nil if it is.
    var clockFailure: Failure?
    /// Of the outputs' files, as read back.
    var evaluation: OutputsHealth?
    /// The secrets in the outputs: the fingerprint and place of each different one.
    var published: [(fingerprint: Fingerprint, place: String)] = []
    /// Whether each output was read, and holds a secret.
    var isEachOutputRead = true
    /// The secret that Apple is asked about, or why there is none.
    var secretToTry: Result<PublishedSecret, CommandFailure>?
    /// The users and groups that may read its outputs.
    var readers = OutputReaders()
    /// When the last of the outputs was written.
    var writtenAt: WallTime?
    var hidden: [HiddenOutput] = []
    /// Why not everything was looked at for that; nil if it was.
    var shortfall: String?
    var units: [ReaderUnit] = []
    /// Whether systemd has said of them what it knows.
    var areUnitsKnown = true
    /// By their numbers; nil if only root can look.
    var processes: [ReaderProcess]?
    var verdict = Verdict.notAsked("Apple was not asked")

    /// Why Apple is not asked; nil if it may be. There is no reason if an output has the current secret, unless that has expired.
    var reasonNotToAsk: String? {
        let broken = Set(ClientChain(self).links.filter { $0.state == .broken }.map(\.name))
        let isPublished =
            if case .success(let secret)? = secretToTry { secret.token.fingerprint == current?.fingerprint } else {
                false
            }
        let isExpired = broken.contains(.secret) && current.map { now >= $0.expiresAt } != false
        return broken.isDisjoint(with: [.secret, .outputs]) || isPublished && !isExpired
            ? nil : "Apple was not asked, because no current secret is published"
    }

    /// The current secret, as the daemon says, else as a daemon would find it.
    var current: SecretInfo? {
        if let view { return view.current }
        switch decision {
        case .keep(let secret, _): return secret
        // The outputs may hold one of a key or an id that was replaced.
        case .receive: return nil
        case .mint, .verify, .wait, nil: return evaluation?.secret
        }
    }

    /// The causes that a refusal by Apple proves.
    func certain(_ causes: Set<RefusalAdvice.Cause>) -> String? {
        guard case .answered(let result) = verdict else { return nil }
        return result.advice.first { $0.isCertain && causes.contains($0.cause) }?.words
    }

    /// A problem that `check` finds; it does not apply to the daemon if another user asks.
    func link(_ name: ChainLink.Name, _ failure: Failure?) -> ChainLink? {
        failure.map { failure in
            guard isForCallerOnly else { return ChainLink(name, broken: failure) }
            let advice = ShellCommand.doctorAsRoot.map { "; run: \($0.text)" } ?? ""
            return ChainLink(name, .unknown, "only root can check this\(advice)")
        }
    }
}

extension ChainFacts {
    /// Facts about clients, in the order of the names. They are read with root's rights as long as this process has them. After
    /// that, they are read as the service's user, which has to work with the configuration.
    ///
    /// Blocks. Turns root into the service's user for good, if the configuration is the service's.
    ///
    /// - Parameter snapshot: the daemon's view; nil if none answers.
    /// - Returns: also the units that do not start after a reboot.
    static func all(
        of names: [ClientName], in settings: AcceptedConfiguration, socket: String, snapshot: Snapshot?
    ) throws(CommandFailure) -> (clients: [ChainFacts], idleUnits: [IdleUnit]) {
        var all: [ChainFacts] = []
        let configuration = settings.loaded.configuration
        let now = WallTime.now
        let hidden = HiddenOutputSearch.byClient(of: configuration, at: now)
        let clients = configuration.clients.filter { names.contains($0.key) }
        let units = ReaderUnit.all(of: clients, and: hidden.mapValues { Set($0.compactMap(\.unit)) })
        let published = OfflineEvaluation(of: settings.loaded, from: settings.source)
        let evaluations = published.health()
        let outputFiles = clients.mapValues { client in
            client.outputs.map(\.path.description).compactMap { path in
                FileStatus.following(path).map { (path: path, status: $0) }
            }
        }
        let processes =
            geteuid() == 0
            ? ReaderProcess.all(
                of: Set(units.values.map(\.units).joined().map(\.name)),
                variables: Set(configuration.clients.values.flatMap(\.outputs).compactMap(\.slot.variable)),
                readers: OutputReaders(of: Array(outputFiles.values.joined())), signedBy: published.keys) : nil
        let silent = DiskTimeout.silent.first.map { "\(Printable.name($0)): \(DiskTimeout.words)" }
        let shortfall = silent ?? ProcessLook.shortfall ?? ProcessLook.restriction
        for name in names {
            guard let client = clients[name], let key = configuration.keys[client.key] else { continue }
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
            facts.shortfall = shortfall
            if let found = units[name] { (facts.units, facts.areUnitsKnown) = found }
            facts.processes = processes
            all.append(facts)
        }
        let path = settings.source.path
        let inEffect = ServiceUser.unitsInEffect(of: settings.loaded, at: path)
        let unit = try ServiceUser.judge(configuration: path)
        let source = ConfigurationSource.ofCaller(path)
        let loaded = try accepted(source.load())
        let dryRun = DryRun(of: loaded, from: source, socket: socket, unit: unit, inEffect: inEffect)
        let problems = dryRun.findings.problems
        for index in all.indices {
            let name = all[index].name
            all[index].decision = dryRun.secrets.first { $0.client == name }?.decision
            all[index].sharedKeys = dryRun.findings.sharedKeys
            all[index].sourceFailure = dryRun.sourceFailures[name]
            all[index].isForCallerOnly = ServiceUser.isForeign(to: path)
            all[index].problems = problems.filter { $0.client == nil || $0.client == name }.map(\.failure)
                // The daemon has seen the clock run.
                .filter { $0.place != .clock || snapshot?.clockTrusted != true }
        }
        return (all, dryRun.findings.idleUnits)
    }
}
