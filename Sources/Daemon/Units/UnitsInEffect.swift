package import Config
import Failures
import Linux
package import Model
import Rotation
import Systemd

/// The settings of units in effect, drop-ins for all services included: the daemon's own unit, those of its helpers, and those
/// that load a secret as a credential.
package struct UnitsInEffect {
    /// The name of the unit that runs the daemon.
    let daemon: String
    /// The settings of the daemon's unit and of its helpers', as far as the configuration uses them.
    private let units: [UnitInEffect]
    /// The files from which systemd passes credentials to them.
    private(set) var sources = CredentialSources()
    /// Services that take secrets from the daemon; none for another daemon than the package's, whose files and socket they name.
    private let readers: [SecretReader]
    /// That a unit does not get its credential, for which systemd asks by the unit's own name only; by the name in the
    /// configuration.
    let problemsWithAliases: [(alias: String, failure: Failure)]
    /// The package's sockets that cannot be reached; nil for another daemon than the package's.
    private let sockets: [SocketUnit.Problem]?

    /// Nil if systemd cannot be asked. Blocks.
    ///
    /// - Parameters:
    ///   - configuration: nil: only the daemon's own unit is looked at.
    ///   - daemon: the unit that runs it; nil: the one that this process is about.
    package init?(of configuration: Configuration? = nil, daemon: ServiceUnit? = nil) {
        guard let daemon = daemon ?? ServiceUnit.ofThisDaemon() else { return nil }
        var names = [daemon.name]
        let clients = configuration.map { Array($0.clients.values) } ?? []
        names += Set(clients.flatMap { $0.targets.map(\.target) }).sorted().map { PackageUnit.pusher(of: $0) }
        if configuration?.store != nil { names.append(PackageUnit.store) }
        if clients.contains(where: \.verify) { names.append(PackageUnit.verifier) }
        let writers = Set(configuration?.files.values.compactMap(\.owner) ?? []).filter { $0 != daemon.settings.user }
        names += writers.sorted().map { PackageUnit.writer(of: $0) }
        var units: [UnitInEffect] = []
        let isPackages = daemon.name == PackageUnit.daemon && CommandContext.current.isOfPackage
        var aliases: [(alias: String, failure: Failure)] = []
        var sockets: [SocketUnit.Problem]?
        let isAnswered: Void? = SystemdClient.ask { systemd throws(UnitError) in
            for name in names {
                if let settings = try systemd.settings(of: Self.instance(of: name)) {
                    units.append(UnitInEffect(name: name, settings: settings))
                }
            }
            aliases = try systemd.problemsWithAliases(in: clients)
            if isPackages, configuration != nil { sockets = try systemd.socketProblems() }
            return ()
        }
        guard isAnswered != nil else { return nil }
        self.daemon = daemon.name
        self.units = units
        readers = isPackages ? configuration.map { Self.readers(in: $0) } ?? [] : []
        problemsWithAliases = aliases
        self.sockets = sockets
    }

    /// None if systemd does not answer in time: there may be any number of them, and the daemon's own units are judged
    /// without them.
    private static func readers(in configuration: Configuration) -> [SecretReader] {
        let names = SecretReader.named(in: configuration).union(SecretReader.namedInUnitFiles())
        guard !names.isEmpty else { return [] }
        let found: [SecretReader]? = SystemdClient.ask(within: UnitTimeouts.search) { systemd throws(UnitError) in
            let socket = try systemd.path(ofSocket: PackageUnit.credentialSocket)
            var readers: [String: SecretReader] = [:]
            for unit in names.sorted() {
                guard let (name, settings) = try systemd.reader(unit) else { continue }
                readers[name, default: SecretReader(name, settings, socket: socket)].names.insert(unit)
            }
            return readers.values.sorted { $0.name < $1.name }
        }
        return found ?? []
    }

    /// Judges the files from which systemd passes credentials to the units, as this process sees them. Blocks.
    package mutating func judgeSources(for loaded: LoadedConfiguration) {
        sources = CredentialSources(of: units, daemon: daemon, loaded)
    }

    func unit(_ name: String) -> UnitInEffect? { units.first { $0.name == name } }

    /// A template has settings only as an instance.
    static func instance(of unit: String) -> String { unit.replacing("@.", with: "@0.") }

    /// The address at which secrets are tried, by the command line of the service; nil for Apple's own. Blocks.
    static func endpointOfVerifier() throws(UnitError) -> String? {
        guard SystemManager.isSystemd else { return nil }
        var systemd = try SystemdClient(cancel: nil)
        return try systemd.settings(of: instance(of: PackageUnit.verifier))?.value(ofFlag: "--endpoint")
    }

    /// That units run with less protection than they ship with, on one line; nil when none does.
    package var weakness: String? {
        var units: [[UnitSettings.Weakness]: [String]] = [:]
        for unit in self.units where !unit.settings.weaknesses.isEmpty {
            units[unit.settings.weaknesses, default: []].append(unit.name)
        }
        guard !units.isEmpty else { return nil }
        let parts = units.map { weaknesses, names in
            let files = Set(weaknesses.compactMap(\.file)).sorted().map(Printable.name)
            return names.joined(separator: ", ") + ": " + weaknesses.map(\.setting).joined(separator: ", ")
                + (files.isEmpty ? "" : " (\(files.joined(separator: ", ")))")
        }
        return "the sandbox in effect is weaker than the shipped one: " + parts.sorted().joined(separator: " and ")
    }

    /// Problems that keep the units from their next start, a failure for each. Blocks.
    var problemsAtStart: [Failure] { units.flatMap(\.problemsAtStart) }

    /// The first of ``problemsWithAliases`` as a fault of the daemon, raised or cleared; nil if systemd cannot be asked. Blocks.
    static func faultOfAliases(in configuration: Configuration) -> Input? {
        let clients = Array(configuration.clients.values)
        guard clients.contains(where: { $0.credential != nil }) else { return .faultCleared(.unitCannotStart) }
        let found = SystemdClient.ask { systemd throws(UnitError) in try systemd.problemsWithAliases(in: clients) }
        guard let found else { return nil }
        return found.first.map { .faultRaised($0.failure) } ?? .faultCleared(.unitCannotStart)
    }

    /// That the sockets of the daemon itself cannot be reached. Those of its helpers are reported for what needs them.
    func problemsWithSockets(in configuration: Configuration) -> [Failure] {
        guard let sockets else { return [] }
        let isServing = configuration.clients.values.contains { $0.credential != nil }
        return Self.failures(
            of: sockets, mask: SocketUnit.unmasking(PackageUnit.credentialSocket), isServing: isServing)
    }

    /// - Parameters:
    ///   - mask: the remedy if the credential socket is masked; nil if it is not.
    ///   - isServing: whether the configuration gives a unit a credential.
    static func failures(of sockets: [SocketUnit.Problem], mask: Remedy?, isServing: Bool) -> [Failure] {
        let found = sockets.filter { SocketUnit.isDaemons($0.socket) }
        let failures = found.filter { $0.socket != PackageUnit.credentialSocket }.map { problem in
            Failure(.socketUnusable, at: .named(problem.socket), detail: problem.words, remedy: problem.remedy)
        }
        let problem = found.first { $0.socket == PackageUnit.credentialSocket }
        guard isServing, let remedy = problem?.remedy ?? mask else { return failures }
        return failures + [
            Failure(
                .credentialSocketUnusable, at: .named(PackageUnit.credentialSocket), detail: problem?.words,
                remedy: remedy)
        ]
    }

    /// Differences between the configuration and the services that take secrets from the daemon.
    package func problemsWithReaders(in configuration: Configuration) -> [Failure] {
        readers.flatMap { $0.problems(in: configuration).failures }
    }

    /// No command of this process starts or restarts a unit whose next start is known to fail: the running process would be
    /// gone.
    ///
    /// - Parameter configuration: nil: only the daemon's own unit is looked at.
    package func forbidStarts(by configuration: Configuration?) {
        var context = CommandContext.current
        context.unstartable = Set(units.filter { !$0.canStart }.map(\.name))
        if let configuration {
            context.unstartable.formUnion(
                readers.filter { $0.problems(in: configuration).preventStart }.flatMap(\.names))
        }
        context.use()
    }

    /// The problem that keeps the service that pushes to a target from the configuration or the target's token; nil when there
    /// is none, or it is not known.
    ///
    /// - Parameter token: the credential that holds the token; nil for a target without one.
    func problem(with target: TargetName, token: String?) -> Failure? {
        unit(PackageUnit.pusher(of: target))?.explanation(needing: token).map {
            Failure(.pushTokenUnusable, at: .target(target), detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// The problem that keeps the service that asks the store from the files that its unit names.
    var problemWithStore: Failure? {
        unit(PackageUnit.store)?.explanation(needing: nil).map {
            Failure(.storeFileUnusable, at: .store, detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// The problem that the daemon's next start is passed another credential than the process that runs, or none.
    func problem(withCredential name: String) -> Failure? {
        unit(daemon)?.problem(withCredential: name, changed: sources.changedFiles[name])
    }

    /// The problem that keeps a helper from this machine's own addresses, which it needs; nil when there is none.
    ///
    /// - Parameter place: the destination of its connections.
    func problem(
        withLoopbackOf name: String, at place: Failure.Place, _ addresses: RoleAddresses
    ) -> Failure? {
        guard addresses.includeLoopback(for: name),
            let file = unit(name)?.settings.fileAgainstLoopback(despite: RoleAddresses.name)
        else { return nil }
        return Failure(
            .outsideSandbox, at: place,
            detail: "\(name) may not connect to this machine (IPAddressDeny=), because \(Printable.name(file)) has "
                + "IPAddressAllow= without a value",
            remedy: .say("write IPAddressAllow=localhost into that file, below that line"))
    }
}

extension SystemdClient {
    fileprivate mutating func problemsWithAliases(
        in clients: [ClientConfiguration]
    ) throws(UnitError) -> [(alias: String, failure: Failure)] {
        let units = Set(clients.compactMap(\.credential?.unit)).sorted()
        var found: [(alias: String, failure: Failure)] = []
        for unit in units where unit.hasSuffix(".service") && !unit.contains("@.") {
            let name = try ownName(of: unit)
            guard name != unit else { continue }
            let failure = Failure(
                .unitCannotStart, at: .named(unit),
                detail: "systemd asks for its credential as \(Printable.name(name))",
                remedy: .say("write \"unit: \(Printable.name(name))\" under \"credential\""))
            found.append((alias: unit, failure: failure))
        }
        return found
    }

    /// A service's own name and its settings; nil if there is no such service. A problem of one proves nothing about the
    /// others.
    fileprivate mutating func reader(_ unit: String) throws(UnitError) -> (name: String, settings: UnitSettings)? {
        do throws(UnitError) {
            guard let settings = try settings(of: unit) else { return nil }
            return (try ownName(of: unit), settings)
        } catch {
            switch error {
            case .unreachable, .timedOut, .cancelled: throw error
            default: return nil
            }
        }
    }
}
