import AppleClientSecret
import Linux
import Model
import Systemd

/// A service that reads a client's secret, and its processes.
struct ReaderUnit: Hashable, Sendable {
    /// An output that the unit's files name as an environment file.
    struct EnvironmentFile: Hashable, Sendable {
        let path: AbsolutePath
        /// The unit file that clears the list again, so that the variable does not come from there.
        let removedBy: String?
    }

    /// Its own name, as control groups have it, which `on_change` may not use.
    let name: String
    /// Whether the configuration names it; else its settings name an output as its environment file.
    var isConfigured = true
    /// Other names of it in the configuration.
    var aliases: Set<String> = []
    /// Such as `active`, `inactive` or `failed`; nil if systemd cannot be asked.
    let activity: String?
    /// The outputs' variables that its processes are started with, and the file of each.
    var variables: [String: EnvironmentFile] = [:]
    /// Whether commands run before the service itself: one of them may give it a secret that it may not read.
    var runsCommandsFirst = false
    /// When its files, or the directories of its drop-ins, were changed last; nil if that is not known.
    var changedAt: WallTime?

    /// The services of each client, and whether systemd has answered: else there may be more. Blocks.
    ///
    /// - Parameters:
    ///   - others: the services of each client that `on_change` may not name, as the search for hidden outputs has found them.
    ///   - services: the settings of all services, by name; nil if systemd does not answer. They are hundreds of questions to
    ///     systemd, so they are asked for once, and only if a client needs them.
    static func all(
        of clients: [ClientName: ClientConfiguration], and others: [ClientName: Set<String>] = [:],
        services: () -> [String: UnitSettings]? = ReaderUnit.settingsOfServices
    ) -> [ClientName: (units: [ReaderUnit], isAnswered: Bool)] {
        let settings: [String: UnitSettings]? =
            clients.values.contains(where: isReadWithoutAction) ? services() : [:]
        return Dictionary(
            uniqueKeysWithValues: clients.map { ($0, all(of: $1, and: others[$0] ?? [], settings)) })
    }

    /// The services of `on_change` and of the credential, in the order of the configuration, then the others. Oneshots that
    /// `start:` runs read no secret themselves. For a client without an action, these are the services that read an output when
    /// they start.
    private static func all(
        of client: ClientConfiguration, and others: Set<String>, _ services: [String: UnitSettings]?
    ) -> (units: [ReaderUnit], isAnswered: Bool) {
        if isReadWithoutAction(client) {
            return (services.map { readersByEnvironmentFile(of: client, in: $0) } ?? [], services != nil)
        }
        var names = client.onChange.compactMap(\.reader)
        if let credential = client.credential { names.append(credential.unit) }
        var seen: Set<String> = []
        names = names.filter { seen.insert($0).inserted }
        let configured = Set(names)
        names += others.subtracting(configured).sorted()
        guard !names.isEmpty else { return ([], true) }
        let unknown = names.map { ReaderUnit(name: $0, isConfigured: configured.contains($0), activity: nil) }
        guard SystemManager.isSystemd else { return (unknown, true) }
        let units = SystemdClient.ask { systemd throws(UnitError) in
            var units: [ReaderUnit] = []
            for written in names {
                let name = try systemd.ownName(of: written)
                if let index = units.firstIndex(where: { $0.name == name }) {
                    units[index].aliases.insert(written)
                    continue
                }
                let settings = name.hasSuffix(".service") ? try systemd.settings(of: name) : nil
                units.append(
                    ReaderUnit(
                        name: name, isConfigured: configured.contains(written), aliases: [written],
                        activity: try systemd.state(of: name).activity,
                        variables: settings.map { variables(of: client, in: $0) } ?? [:],
                        runsCommandsFirst: settings?.runsCommandsFirst == true,
                        changedAt: settings.flatMap { changedAt(name, $0.paths) }))
            }
            return units
        }
        return (units ?? unknown, units != nil)
    }

    /// Whether its readers are only known by the environment files of all services.
    private static func isReadWithoutAction(_ client: ClientConfiguration) -> Bool {
        client.onChange.isEmpty && client.credential == nil && client.outputs.contains { $0.slot.variable != nil }
    }

    /// The services that the settings of systemd have read an output as their environment file. Blocks.
    private static func readersByEnvironmentFile(
        of client: ClientConfiguration, in services: [String: UnitSettings]
    ) -> [ReaderUnit] {
        let readers = services.compactMap { name, settings -> ReaderUnit? in
            let read = variables(of: client, in: settings).filter { $0.value.removedBy == nil }
            guard !read.isEmpty else { return nil }
            return ReaderUnit(
                name: name, isConfigured: false,
                activity: SystemdClient.ask { systemd throws(UnitError) in try systemd.state(of: name).activity },
                variables: read, changedAt: changedAt(name, settings.paths))
        }
        return readers.sorted { $0.name < $1.name }
    }

    /// Whether systemd gives its processes the secret when it starts.
    func isGivenSecret(of client: ClientConfiguration) -> Bool {
        variables.values.contains { $0.removedBy == nil }
            || client.credential.map { aliases.union([name]).contains($0.unit) } == true
    }

    /// Whether `on_change` restarts it.
    func isRestarted(by client: ClientConfiguration) -> Bool {
        aliases.union([name]).contains { client.onChange.contains(.unit(verb: .restart, unit: $0)) }
    }

    /// The services that a file is for. These are those that name it as an environment file, else those that start in its
    /// directory. Sorted; nil if systemd does not answer. Blocks.
    static func names(reading path: AbsolutePath) -> [String]? {
        settingsOfServices().map { names(reading: path, by: $0) }
    }

    /// The settings of all services but the package's own, by name; nil if systemd does not answer. Blocks.
    private static func settingsOfServices() -> [String: UnitSettings]? {
        guard SystemManager.isSystemd else { return [:] }
        // Hundreds of questions: on a busy machine they take longer than one may.
        return SystemdClient.ask(within: UnitTimeouts.search) { systemd throws(UnitError) in
            // A unit that does not run may not be loaded, and one that was created only for this boot may have no file. An alias
            // has a file, too.
            let names = try Set(systemd.units(matching: "*.service") + systemd.unitFiles(matching: "*.service"))
            return try systemd.settings(ofAll: names)
        }
    }

    static func names(reading path: AbsolutePath, by settings: [String: UnitSettings]) -> [String] {
        let naming = settings.filter { $0.value.reads(environmentFile: path.description) }
        let directory = RealPath.of(path.directory.description)
        let found =
            naming.isEmpty ? settings.filter { $0.value.workingDirectory.map(RealPath.of) == directory } : naming
        return found.keys.sorted()
    }

    /// - Parameter files: its own and its drop-ins.
    private static func changedAt(_ name: String, _ files: [String]) -> WallTime? {
        // A drop-in that was removed, perhaps with its directory, has changed the directory.
        let directories = ["/etc/systemd/system", "/run/systemd/system"].map { above in
            FileStatus.following("\(above)/\(name).d") == nil ? above : "\(above)/\(name).d"
        }
        return (files + directories).compactMap { FileStatus.following($0)?.identity.changed }.max().map {
            WallTime(secondsSinceEpoch: $0 / 1_000_000_000)
        }
    }

    private static func variables(
        of client: ClientConfiguration, in settings: UnitSettings
    ) -> [String: EnvironmentFile] {
        let removed = settings.removedEnvironmentFiles
        var variables: [String: EnvironmentFile] = [:]
        for output in client.outputs {
            guard let variable = output.slot.variable else { continue }
            if let known = variables[variable], known.removedBy == nil { continue }
            if settings.reads(environmentFile: output.path.description) {
                variables[variable] = EnvironmentFile(path: output.path, removedBy: nil)
            } else if let found = removed.first(where: {
                UnitSettings.environmentFile($0.path, names: output.path.description)
            }) {
                variables[variable] = EnvironmentFile(path: output.path, removedBy: found.file)
            }
        }
        return variables
    }
}
