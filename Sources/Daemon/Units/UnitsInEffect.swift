import Config
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
    let units: [(name: String, settings: UnitSettings)]
    /// The credentials whose files other users can change; none before they were judged.
    var openSources: [Source: OpenSource] = [:]
    /// The files of the daemon's credentials that have changed since its start; none before they were compared.
    var changedSources: [Source: String] = [:]
    /// The tokens in files that systemd passes to the services that push, or why there is none; empty before they were read.
    var tokens: [Source: Result<String, LoginFile.Unusable>] = [:]
    /// Services that take secrets from the daemon; none for another daemon than the package's, whose files and socket they name.
    private let readers: [SecretReader]
    /// Such units that the configuration names by an alias, and their own names.
    private let aliases: [(alias: String, name: String)]
    /// The package's sockets that cannot be reached; nil for another daemon than the package's.
    private let sockets: [SocketUnit.Problem]?

    /// Nil if systemd cannot be asked. Blocks.
    ///
    /// - Parameters:
    ///   - configuration: nil: only the daemon's own unit is looked at.
    ///   - daemon: the unit that runs it; nil: the package's.
    package init?(of configuration: Configuration? = nil, daemon: ServiceUnit? = nil) {
        guard let daemon = daemon ?? ServiceUnit.ofDaemon() else { return nil }
        var names = [daemon.name]
        let clients = configuration.map { Array($0.clients.values) } ?? []
        names += Set(clients.flatMap { $0.targets.map(\.target) }).sorted().map { PackageUnit.pusher(of: $0) }
        if configuration?.store != nil { names.append(PackageUnit.store) }
        if clients.contains(where: \.verify) { names.append(PackageUnit.verifier) }
        let writers = Set(configuration?.files.values.compactMap(\.owner) ?? []).filter { $0 != daemon.settings.user }
        names += writers.sorted().map { PackageUnit.writer(of: $0) }
        let served = clients.compactMap(\.credential).filter { !$0.unit.contains("@.") }
        var units: [(String, UnitSettings)] = []
        var readers: [String: SecretReader] = [:]
        let isPackages = daemon.name == PackageUnit.daemon && CommandContext.current.isOfPackage
        let named = configuration.map { SecretReader.named(in: $0).union(SecretReader.namedInUnitFiles()) } ?? []
        var aliases: [(String, String)] = []
        var sockets: [SocketUnit.Problem]?
        let isAnswered: Void? = SystemdClient.ask { systemd throws(UnitError) in
            for name in names {
                if let settings = try systemd.settings(of: Self.instance(of: name)) { units.append((name, settings)) }
            }
            for credential in served where credential.unit.hasSuffix(".service") {
                let name = try systemd.ownName(of: credential.unit)
                if name != credential.unit { aliases.append((credential.unit, name)) }
            }
            if isPackages, configuration != nil { sockets = try systemd.socketProblems() }
            guard isPackages, !named.isEmpty else { return () }
            let socket = try systemd.path(ofSocket: PackageUnit.credentialSocket)
            for unit in named.sorted() {
                guard let (name, settings) = try systemd.reader(unit) else { continue }
                readers[name, default: SecretReader(name, settings, socket: socket)].names.insert(unit)
            }
            return ()
        }
        guard isAnswered != nil else { return nil }
        self.daemon = daemon.name
        self.units = units
        self.readers = readers.values.sorted { $0.name < $1.name }
        self.aliases = aliases.sorted { $0.0 < $1.0 }
        self.sockets = sockets
    }

    /// The services that connect to a network.
    static let roles = [PackageUnit.pusherTemplate, PackageUnit.store, PackageUnit.verifier]

    /// A template has settings only as an instance.
    private static func instance(of unit: String) -> String { unit.replacing("@.", with: "@0.") }

    /// The address at which secrets are tried, by the command line of the service; nil for Apple's own. Blocks.
    static func endpointOfVerifier() throws(UnitError) -> String? {
        guard SystemManager.isSystemd else { return nil }
        var systemd = try SystemdClient(cancel: nil)
        return try systemd.settings(of: instance(of: PackageUnit.verifier))?.value(ofFlag: "--endpoint")
    }

    static func isOfNetwork(_ unit: String) -> Bool { unit == PackageUnit.store || PackageUnit.isPusher(unit) }

    /// That units run with less protection than they ship with, on one line; nil when none does.
    package var weakness: String? {
        var units: [[UnitSettings.Weakness]: [String]] = [:]
        for (name, settings) in self.units where !settings.weaknesses.isEmpty {
            units[settings.weaknesses, default: []].append(name)
        }
        guard !units.isEmpty else { return nil }
        let parts = units.map { weaknesses, names in
            let files = Set(weaknesses.compactMap(\.file)).sorted().map(Printable.name)
            return names.joined(separator: ", ") + ": " + weaknesses.map(\.setting).joined(separator: ", ")
                + (files.isEmpty ? "" : " (\(files.joined(separator: ", ")))")
        }
        return "the sandbox in effect is weaker than the shipped one: " + parts.sorted().joined(separator: " and ")
    }

    /// Problems that keep the units from their next start, a failure for each. The files of a service that pushes are reported
    /// for its targets, and those of the one that asks the store for the store.
    var problemsAtStart: [Failure] { units.flatMap { Self.problemsAtStart(of: $0.name, $0.settings) } }

    static func problemsAtStart(of unit: String, _ settings: UnitSettings) -> [Failure] {
        let missing = isOfNetwork(unit) ? [] : settings.missing
        var found = missing.map { need in
            Failure(
                .unitCannotStart, at: .named(unit), detail: words(need),
                remedy: .say(advice(for: unit, settings, need)))
        }
        if let (detail, remedy) = problemWithAccounts(of: unit, settings) {
            found.append(Failure(.unitCannotStart, at: .named(unit), detail: detail, remedy: remedy))
        }
        return found
    }

    /// Why systemd cannot start a unit as its user or in its groups, and the remedy; nil if it can, or that is not known. Blocks.
    private static func problemWithAccounts(
        of unit: String, _ settings: UnitSettings
    ) -> (detail: String, remedy: Remedy)? {
        guard settings.hasUsableUser else {
            let name = unit.hasPrefix(pushing) ? "a shorter name for the target, without dots, or" : "another"
            return (
                "systemd accepts no user name this long or with such characters",
                .say("write \(name) User= into its [Service] section with systemctl edit \(unit)")
            )
        }
        // The daemon's own user is reported by itself, and a writer's for its files.
        let isRole = isOfNetwork(unit) || unit == verifier
        let unknown = settings.unknownAccounts.first { isRole || $0.setting == "SupplementaryGroups" }
        guard let (setting, name) = unknown else { return nil }
        let kind = setting == "User" ? "user" : "group"
        let place = settings.place(of: setting, containing: name).map { "in \(Printable.name($0.file)):\($0.line)" }
        return (
            "\(setting)=\(Printable.name(name)) names a \(kind) that does not exist",
            .say("correct it \(place ?? "with systemctl edit \(unit)"), or add the \(kind)")
        )
    }

    /// That a unit does not get its credential, for which systemd asks by the unit's own name only; by the name in the
    /// configuration.
    var problemsWithAliases: [(alias: String, failure: Failure)] {
        // Of several credentials, one speaks for the unit.
        let names = Dictionary(aliases.map { ($0.alias, $0.name) }) { one, _ in one }
        return names.sorted { $0.key < $1.key }.map { alias, name in
            let failure = Failure(
                .unitCannotStart, at: .named(alias),
                detail: "systemd asks for its credential as \(Printable.name(name))",
                remedy: .say("write \"unit: \(Printable.name(name))\" under \"credential\""))
            return (alias: alias, failure: failure)
        }
    }

    /// The same as a fault of the daemon, raised or cleared; nil if systemd cannot be asked. Blocks.
    static func faultOfAliases(in configuration: Configuration) -> Input? {
        guard configuration.clients.values.contains(where: { $0.credential != nil }) else {
            return .faultCleared(.unitCannotStart)
        }
        guard let units = UnitsInEffect(of: configuration) else { return nil }
        return units.problemsWithAliases.first.map { .faultRaised($0.failure) } ?? .faultCleared(.unitCannotStart)
    }

    /// That the sockets of the daemon itself cannot be reached. Those of its helpers are reported for what needs them.
    func problemsWithSockets(in configuration: Configuration) -> [Failure] {
        guard let sockets else { return [] }
        let isServing = configuration.clients.values.contains { $0.credential != nil }
        return Self.failures(
            of: sockets, mask: UnitMask.remedy(ofSocket: PackageUnit.credentialSocket), isServing: isServing)
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
        context.unstartable = Set(
            units.filter { !$0.settings.missing.isEmpty || Self.problemWithAccounts(of: $0.name, $0.settings) != nil }
                .map(\.name))
        if let configuration {
            context.unstartable.formUnion(
                readers.filter { $0.problems(in: configuration).preventStart }.flatMap(\.names))
        }
        context.use()
    }

    private static func words(_ need: UnitSettings.Need) -> String {
        need.isLink
            ? "\(Printable.name(need.path)) is a link, where systemd makes the directory itself (\(need.setting)=)"
            : "it does not start without \(Printable.name(need.path)), which \(need.setting)= names"
    }

    private static func advice(for unit: String, _ settings: UnitSettings, _ need: UnitSettings.Need) -> String {
        if need.isLink {
            return "remove the link, and mount there what it leads to, with a bind mount"
        }
        if UnitSettings.pathLists.contains(need.setting) {
            return
                "create it, or put a \"-\" before the path, as in \(UnitFileLine.paths(need.setting, need.path)), with "
                + "systemctl edit \(unit)"
        }
        let place = settings.place(of: need.setting, containing: need.path).map {
            "in \(Printable.name($0.file)):\($0.line)"
        }
        return "put it back, or correct that line \(place ?? "with systemctl edit \(unit)"), before you restart \(unit)"
    }

    /// The problem that keeps the service that pushes to a target from the configuration or the target's token; nil when there
    /// is none, or it is not known.
    ///
    /// - Parameter token: the credential that holds the token; nil for a target without one.
    func problem(with target: TargetName, token: String?) -> Failure? {
        problem(of: PackageUnit.pusher(of: target), token).map {
            Failure(.pushTokenUnusable, at: .target(target), detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// The problem that keeps the service that asks the store from the files that its unit names.
    var problemWithStore: Failure? {
        problem(of: PackageUnit.store, nil).map {
            Failure(.storeFileUnusable, at: .store, detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// The problem that keeps a helper from this machine's own addresses, which it needs; nil when there is none.
    ///
    /// - Parameter place: the destination of its connections.
    func problem(
        withLoopbackOf unit: String, at place: Failure.Place, _ addresses: RoleAddresses
    ) -> Failure? {
        guard addresses.includeLoopback(for: unit),
            let file = settings(of: unit)?.fileAgainstLoopback(despite: RoleAddresses.name)
        else { return nil }
        return Failure(
            .outsideSandbox, at: place,
            detail: "\(unit) may not connect to this machine (IPAddressDeny=), because \(Printable.name(file)) has "
                + "IPAddressAllow= without a value",
            remedy: .say("write IPAddressAllow=localhost into that file, below that line"))
    }

    private func problem(of unit: String, _ credential: String?) -> (detail: String, remedy: Remedy)? {
        settings(of: unit).flatMap { Self.explanation(of: unit, $0, credential) }
    }

    func settings(of unit: String) -> UnitSettings? { units.first { $0.name == unit }?.settings }

    /// Why a unit does not get its requirement, and the remedy.
    ///
    /// - Parameter credential: its requirement in addition to those that its own file names.
    static func explanation(
        of unit: String, _ settings: UnitSettings, _ credential: String?
    ) -> (detail: String, remedy: Remedy)? {
        let removed = settings.removedCredentials
        if let file = removed.first?.file {
            let names = removed.map { Printable.name($0.name) }.joined(separator: " and ")
            return (
                "\(unit) names \(names), and \(Printable.name(file)) removes \(removed.count == 1 ? "it" : "them")",
                .say(advice(for: unit, removed))
            )
        }
        if let need = settings.missing.first {
            return ("\(unit): \(words(need))", .say(advice(for: unit, settings, need)))
        }
        guard let credential, !settings.loads(credential) else { return nil }
        return (
            "\(unit) has no LoadCredential= for \(Printable.name(credential))",
            .say(
                "write \(UnitFileLine.loadCredential(credential, from: "/path/to/file")) into its [Service] section, with systemctl edit \(unit)"
            )
        )
    }

    static func advice(for unit: String, _ removed: [UnitSettings.RemovedCredential]) -> String {
        let lines = removed.map { Printable.name($0.assignment) }.joined(separator: " and ")
        let name = RealPath.name(of: removed.first?.file ?? "")
        return "write \(lines) into a drop-in of \(unit) whose name comes after \(Printable.name(name))"
    }

    /// The remedy if a unit reaches nothing; nil if no drop-in of its limits the addresses.
    static func remedyForAddresses(of unit: String, _ settings: UnitSettings) -> Remedy? {
        settings.addressLimit.map { limit in
            .say(
                "allow the address in \(Printable.name(limit.file)):\(limit.line), where \(limit.setting)= limits "
                    + "\(unit); if it is allowed there, see whether a firewall is in the way")
        }
    }

    /// The failure with systemd's facts about it: whether the unit gets the credential that it is about, which addresses it may
    /// reach, and why a service does not answer that cannot start. Blocks.
    ///
    /// - Parameters:
    ///   - writer: the user whose writer had to do the work; nil for other work.
    ///   - token: the credential that holds a target's token.
    static func explained(_ failure: Failure, writer: String?, token: (TargetName) -> String?) -> Failure {
        let unit: String
        var credential: String?
        switch (failure.code, failure.place) {
        case (.credentialMissing, .credential(let name)):
            unit = ServiceUnit.ofDaemon()?.name ?? ""
            credential = name
        case (.pushTokenUnusable, .target(let target)), (.pushUnconfigured, .target(let target)):
            unit = PackageUnit.pusher(of: target)
            credential = token(target)
        case (.pushServiceSilent, .target(let target)), (.pushUnreachable, .target(let target)):
            unit = PackageUnit.pusher(of: target)
        case (.verifierSilent, _): unit = PackageUnit.verifier
        // One that was started and does not respond is stuck.
        case (.writerSilent, _) where failure.cause != ErrorNumber.timedOut:
            unit = writer.map { PackageUnit.writer(of: $0) } ?? ""
        case (.storeUnconfigured, _), (.storeFileUnusable, _), (.storeServiceSilent, _),
            (.storeUnreachable, _):
            unit = PackageUnit.store
        default: return failure
        }
        guard SystemManager.isSystemd, !unit.isEmpty else { return failure }
        let found = SystemdClient.ask { systemd throws(UnitError) in try systemd.settings(of: instance(of: unit)) }
        return found.map { explained(failure, by: $0, of: unit, credential) } ?? failure
    }

    /// Failures of a service that gave no answer, as one does that systemd cannot start.
    private static let silent: Set<Failure.Code> = [
        .pushServiceSilent, .storeServiceSilent, .verifierSilent, .writerSilent,
    ]

    /// The same by the settings of that unit. Blocks.
    static func explained(
        _ failure: Failure, by found: UnitSettings, of unit: String, _ credential: String?
    ) -> Failure {
        if failure.code == .pushUnreachable || failure.code == .storeUnreachable {
            guard let remedy = remedyForAddresses(of: unit, found) else { return failure }
            return Failure(
                failure.code, at: failure.place, cause: failure.cause, detail: failure.detail, remedy: remedy,
                retryAfter: failure.retryAfter, placeContent: failure.placeContent)
        }
        func because(_ detail: String, _ remedy: Remedy?) -> Failure {
            Failure(
                failure.code, at: failure.place, cause: failure.cause, detail: detail, remedy: remedy,
                retryAfter: failure.retryAfter)
        }
        if let (detail, remedy) = explanation(of: unit, found, credential) { return because(detail, remedy) }
        if failure.code == .credentialMissing {
            // This user may not see whether a file is missing, and a restart that fails would take down the running service.
            let remedy =
                found.needs.first.map { need in
                    Remedy.say("see that \(Printable.name(need.path)) is there, then restart \(unit)")
                } ?? .say(failure.detail == nil ? "start it" : "restart it", run: .restart(unit))
            return because(failure.detail ?? "\(unit) names it, and was not started since", remedy)
        }
        guard silent.contains(failure.code) else { return failure }
        if let (detail, remedy) = problemWithAccounts(of: unit, found) { return because("\(unit): \(detail)", remedy) }
        return found.startFailure.map { because("systemd could not start \(unit): \($0)", failure.remedy) } ?? failure
    }
}

extension SystemdClient {
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
