import Linux
import Model
import Systemd

/// The running services to which systemd gives an output when they start, by `EnvironmentFile=` or `LoadCredential=`. Their
/// settings in effect show that; `on_change` may name one and forget another.
struct StartReaders: Sendable {
    /// By the service's own name.
    private let services: [String: UnitSettings]
    /// By the real path of an output: the names of the services that read it.
    private let names: [String: Set<String>]
    /// By the name of a unit of `on_change`: itself by its own name, and the units that systemd restarts with it.
    private let restarted: [String: Set<String>]
    /// By the name of a unit of `on_change`: its own name.
    private let ownNames: [String: String]
    /// The real paths that systemd watches for changes.
    private let watched: Set<String>

    /// - Parameters:
    ///   - services: the settings of all services that may be running.
    ///   - restarted: by the name of a unit of `on_change`: the units that systemd restarts with it.
    ///   - ownNames: by the name of a unit of `on_change`: its own name, if that is another one.
    ///   - watched: the paths that path units watch for changes.
    init(
        of configuration: Configuration, among services: [String: UnitSettings], restarted: [String: Set<String>] = [:],
        ownNames: [String: String] = [:], watched: Set<String> = []
    ) {
        // By path, because a thousand units may each read an output of a thousand.
        let outputs = Set(configuration.places.map { RealPath.of($0.path.description) })
        var names: [String: Set<String>] = [:]
        for (name, settings) in services where settings.mainProcess != nil {
            for file in settings.filesReadAtStart {
                let paths = Set(([file.path] + ForeignFile.paths(matching: file.path)).map(RealPath.of))
                for path in paths.intersection(outputs) { names[path, default: []].insert(name) }
            }
        }
        self.services = services
        self.names = names
        self.restarted = restarted
        self.ownNames = ownNames
        self.watched = Set(watched.map(RealPath.of))
    }

    /// Asks systemd, once for all clients. None if it does not answer in time. Blocks.
    init(of configuration: Configuration) {
        guard SystemManager.isSystemd, !configuration.places.isEmpty else {
            self.init(of: configuration, among: [:])
            return
        }
        let actions = configuration.clients.values.flatMap(\.onChange)
        var restarted: [String: Set<String>] = [:]
        var ownNames: [String: String] = [:]
        var watched: Set<String> = []
        let services: [String: UnitSettings]?
        services = SystemdClient.ask(within: UnitTimeouts.search) { systemd throws(UnitError) in
            for unit in Set(actions.compactMap(\.unit)) { ownNames[unit] = try systemd.ownName(of: unit) }
            for unit in Set(actions.compactMap(\.restarted)) {
                restarted[unit] = try systemd.restarted(with: unit)
            }
            watched = try systemd.pathsWatchedForChanges()
            // A oneshot is not running once it has read its files, and reads them again at its next start.
            let running = try systemd.units(matching: "*.service", inStates: ["running", "reloading"])
            return try systemd.settings(ofAll: Set(running))
        }
        self.init(
            of: configuration, among: services ?? [:], restarted: restarted, ownNames: ownNames, watched: watched)
    }

    /// The services that read an output and that the client's `on_change` does not name, in the order of their names.
    func unnamed(
        by client: ClientConfiguration, reading realPath: String
    ) -> [(name: String, settings: UnitSettings)] {
        guard let readers = names[realPath] else { return [] }
        let named = Set(client.onChange.compactMap(\.unit).flatMap { [$0, ownNames[$0] ?? $0] })
        return readers.subtracting(named).sorted().compactMap { name in
            services[name].map { (name: name, settings: $0) }
        }
    }

    /// Whether systemd restarts a service with a unit that the client's `on_change` restarts.
    func isRestarted(_ name: String, by client: ClientConfiguration) -> Bool {
        client.onChange.compactMap(\.restarted).contains { restarted[$0]?.contains(name) == true }
    }

    /// Whether a path unit watches an output or its directory. The unit that it starts may restart any reader, as without polkit.
    func isWatched(_ realPath: String) -> Bool {
        watched.contains(realPath) || watched.contains(RealPath.directory(of: realPath))
    }
}
