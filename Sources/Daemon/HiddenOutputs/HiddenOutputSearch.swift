package import AppleClientSecret
import Failures
import Formats
import Linux
package import Model
import Systemd

/// Collects settings that may hide outputs from their readers, as far as this user may read them.
package struct HiddenOutputSearch {
    /// In bytes; environment files and caches are far shorter.
    private static let fileLimit = 1 << 20
    private let configuration: Configuration
    private let ownMounts: NamespaceMounts?
    private let ownNamespace: String?
    /// The variables of each file that outputs set.
    private let variables: [AbsolutePath: Set<String>]
    /// By variable: the real paths of the files in which outputs set it, and whose outputs.
    private let clients: [FileSlot: [String: ClientName]]
    private let files: ApplicationFileReader

    private init(_ configuration: Configuration) {
        self.configuration = configuration
        ownMounts = MountTable.ofThisProcess().map(NamespaceMounts.init)
        ownNamespace = ForeignFile.link("/proc/self/ns/mnt")
        variables = Dictionary(grouping: configuration.places, by: \.path).mapValues { Set($0.compactMap(\.variable)) }
        files = ApplicationFileReader(variables: Set(variables.values.joined()))
        // Once: a thousand clients may all set a variable of the same name.
        var clients: [FileSlot: [String: ClientName]] = [:]
        for (name, client) in configuration.clients {
            for output in client.outputs where output.slot.variable != nil {
                clients[output.slot, default: [:]][RealPath.of(output.path.description)] = name
            }
        }
        self.clients = clients
    }

    /// The settings that hide outputs of these clients, sorted by file and line. Reads other programs' files and asks systemd.
    /// Decides nothing by the answers. Blocks.
    package static func all(of configuration: Configuration, at now: WallTime) -> [HiddenOutput] {
        Set(byClient(of: configuration, at: now).values.joined()).sorted()
    }

    /// Only the configured modes and groups that files do not get.
    package static func unappliedModes(of configuration: Configuration) -> [HiddenOutput] {
        HiddenOutputSearch(configuration).unappliedModes().values.sorted()
    }

    /// All of them for each client.
    package static func byClient(
        of configuration: Configuration, at now: WallTime
    ) -> [ClientName: [HiddenOutput]] {
        byClient(of: configuration, at: now, StartReaders(of: configuration))
    }

    /// - Parameter readers: the running services that read an output when they start.
    static func byClient(
        of configuration: Configuration, at now: WallTime, _ readers: StartReaders
    ) -> [ClientName: [HiddenOutput]] {
        let collector = HiddenOutputSearch(configuration)
        let settings = collector.unitSettings()
        let namespaces = collector.namespaces(first: settings.values.compactMap { $0.mainProcess?.id })
        // By file: a thousand clients may set variables in one.
        var otherSecrets: [String: [HiddenOutput]] = [:]
        let modes = collector.unappliedModes()
        let found = configuration.clients.filter { !$0.value.outputs.isEmpty }.map { client, entry in
            var found = Set(entry.outputs.compactMap { modes[$0.path] })
            let units = entry.onChange.compactMap(\.service).filter { settings[$0] != nil }
            let outputs = collector.outputs(of: client, units.compactMap { settings[$0]?.workingDirectory })
            for output in outputs {
                found.formUnion(HiddenOutput.overrides(of: output))
                found.formUnion(HiddenOutput.caches(of: output))
                let others = otherSecrets[output.path] ?? HiddenOutput.otherSecrets(in: output, at: now)
                otherSecrets[output.path] = others
                found.formUnion(others)
                let mounts = namespaces.flatMap { HiddenOutput.mounts(of: output, in: $0) }
                found.formUnion(mounts)
                for name in Set(units) {
                    guard let unit = settings[name].map({ collector.unit(name, $0, of: output) }) else { continue }
                    // If the unit reads another output of the client, only that one can be hidden.
                    let isRead = unit.environmentFiles.contains { output.realPath == $0.realPath }
                    let readsCopy = unit.environmentFiles.contains { output.copies.contains($0.realPath) }
                    if isRead || !readsCopy { found.formUnion(HiddenOutput.settings(of: unit, over: output)) }
                    if let ignored = HiddenOutput.ignoredLine(of: output, by: unit) { found.insert(ignored) }
                    if let stale = HiddenOutput.staleProcess(of: unit, output) { found.insert(stale) }
                    if mounts.isEmpty, let other = HiddenOutput.otherFile(at: output, in: unit) { found.insert(other) }
                }
                for (name, settings) in readers.unnamed(by: entry, reading: output.realPath) {
                    // A program, or the unit that a path unit starts, may well restart it.
                    let isRestarted =
                        entry.onChange.contains(where: \.runsProgram) || readers.isRestarted(name, by: entry)
                        || readers.isWatched(output.realPath)
                    found.formUnion(
                        HiddenOutput.unnamed(
                            collector.unit(name, settings, of: output), reading: output, isRestarted: isRestarted))
                }
            }
            return (client, found.sorted())
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    // MARK: Outputs

    private func unappliedModes() -> [AbsolutePath: HiddenOutput] {
        configuration.files.compactMapValues { file in
            let path = file.path.description
            guard file.mode != nil || file.group != nil, file.slots.keys.contains(where: { $0.variable != nil }),
                let status = FileStatus.following(path), let bytes = files.output(at: path)?.bytes
            else { return nil }
            return HiddenOutput.unappliedMode(of: file, status, in: bytes)
        }
    }

    private func outputs(of name: ClientName, _ workingDirectories: [String]) -> [OutputFacts] {
        guard let client = configuration.clients[name] else { return [] }
        return client.outputs.map { output in
            let path = output.path.description
            let real = RealPath.of(path)
            let copies = client.outputs.filter { $0.slot == output.slot }.map { RealPath.of($0.path.description) }
            var facts = OutputFacts(path: path, realPath: real, variable: output.slot.variable, copies: Set(copies))
            facts.modified = FileStatus.following(path).map { $0.identity.modified / 1_000 }
            facts.place = ownMounts?.place(of: real)
            facts.programs = client.onChange.compactMap(\.program)
            facts.started = client.onChange.lazy.compactMap(\.started).first
            facts.restarted = client.onChange.lazy.compactMap(\.restarted).first
            guard output.slot.variable != nil else { return facts }
            facts.variables = variables[output.path] ?? []
            facts.clients = clients[output.slot] ?? [:]
            facts.file = files.output(at: path)
            facts.neighbours = neighbours(of: path, real, workingDirectories)
            return facts
        }
    }

    /// Environment files and caches in the directories from which the application may read the output. These are the directory
    /// of its name, its real directory, and the directories in which its units start if the output has a link there.
    private func neighbours(of path: String, _ real: String, _ workingDirectories: [String]) -> [ApplicationFile] {
        let name = RealPath.name(of: path)
        guard DotenvPrecedence.isOne(name) else { return [] }
        var directories = [path, real].map(RealPath.directory)
        directories += workingDirectories.filter { RealPath.of($0 + "/" + name) == real }
        var seen: Set<String> = [real]
        return directories.flatMap { directory -> [ApplicationFile] in
            let overrides = files.dotenvFiles(in: directory).filter {
                DotenvPrecedence.takesPrecedence(RealPath.name(of: $0.path), over: name)
                    && seen.insert($0.realPath).inserted
            }
            let caches = name == ".env" ? FrameworkCache.all.map(\.path) : []
            return overrides
                + caches.compactMap { name in
                    let path = directory + "/" + name
                    guard seen.insert(RealPath.of(path)).inserted,
                        let bytes = ForeignFile.read(path, limit: Self.fileLimit)
                    else { return nil }
                    return ApplicationFile(path: path, bytes: bytes)
                }
        }
    }

    // MARK: Units and processes

    /// The settings of all services of `on_change`; none if systemd cannot be asked.
    private func unitSettings() -> [String: UnitSettings] {
        guard SystemManager.isSystemd else { return [:] }
        let names = Set(configuration.clients.values.flatMap(\.onChange).compactMap(\.service))
        guard !names.isEmpty else { return [:] }
        var settings: [String: UnitSettings] = [:]
        _ = SystemdClient.ask { systemd throws(UnitError) -> Void? in
            for name in names { settings[name] = try systemd.settings(of: name) }
            return ()
        }
        return settings
    }

    private func unit(_ name: String, _ settings: UnitSettings, of output: OutputFacts) -> UnitFacts {
        let files = settings.environmentFiles.flatMap(files.files)
        let process = settings.mainProcess.map { id, startedAt in
            var process = UnitFacts.MainProcess(id: id, startedAt: startedAt)
            let environment = ForeignFile.read("/proc/\(id)/environ", limit: Self.fileLimit) ?? []
            // That of a process that is about to end is empty. systemd gives each process some variables.
            if !environment.isEmpty { process.environment = Set(environment.split(separator: 0).map { Array($0) }) }
            if seesOtherFile(id, at: output.realPath) { process.otherFiles = [output.path] }
            return process
        }
        var unit = UnitFacts(name: name, settings: settings, environmentFiles: files, process: process)
        // The daemon's directory is the package's daemon's.
        if CommandContext.current.isOfPackage {
            let reader = SecretReader(name, settings)
            unit.formerOutputs = Set(settings.environmentFiles.filter { reader.isFormer($0, in: configuration) })
        }
        return unit
    }

    private func seesOtherFile(_ process: Int32, at path: String) -> Bool {
        guard let namespace = ForeignFile.link("/proc/\(process)/ns/mnt"), namespace != ownNamespace,
            let before = FileStatus.following(path),
            let theirs = FileStatus.following("/proc/\(process)/root" + path),
            // The daemon may replace it just now.
            let after = FileStatus.following(path), before.isSameFile(as: after)
        else { return false }
        return !theirs.isSameFile(as: before)
    }

    /// Our own mount namespace, and the others in which outputs are mounted, as far as they may be read.
    ///
    /// - Parameter processes: those that matter most.
    private func namespaces(first processes: [Int32]) -> [NamespaceFacts] {
        let outputs = configuration.places.compactMap { ownMounts?.place(of: RealPath.of($0.path.description)) }
        guard let ownMounts, let ownNamespace, !outputs.isEmpty else { return [] }
        return [NamespaceFacts(process: "self", command: nil, mounts: ownMounts)]
            + NamespaceFacts.others(
                than: ownMounts, ownNamespace, showing: Set(outputs), first: Set(processes), ProcessLook())
    }
}

extension Action {
    /// Whether it runs a program: by itself, or as a unit of the administrator's that runs to its end.
    package var runsProgram: Bool { program != nil }

    /// The program that it runs, by the path of its file or the name of its unit; nil if it runs none.
    fileprivate var program: String? {
        switch self {
        case .exec(let arguments, _): Printable.name(arguments.first ?? "exec")
        case .unit(.start, let unit): unit
        case .unit, .signal, .redeploy: nil
        }
    }

    fileprivate var started: String? {
        if case .unit(.start, let unit) = self { unit } else { nil }
    }

    var restarted: String? {
        if case .unit(.restart, let unit) = self { unit } else { nil }
    }

    /// The service that it concerns; nil for another kind of unit or none.
    fileprivate var service: String? { unit.flatMap { $0.hasSuffix(".service") ? $0 : nil } }
}
