import Failures
import Linux
package import Rotation
import Systemd

/// What is told of units by their settings in effect, drop-ins for all services included: the daemon's own, those of its
/// helpers, and those that load a secret as a credential.
package struct UnitsInEffect {
    /// In milliseconds; systemd answers at once.
    private static let patience: Int64 = 10_000

    /// The settings of the daemon's unit and of its helpers', as far as the configuration uses them.
    private let units: [(name: String, settings: UnitSettings)]
    /// Units that load a client's secret.
    private let consumers: [(credential: ServedCredential, settings: UnitSettings)]
    private let daemon: String

    /// Nil where systemd cannot be asked. Blocks.
    ///
    /// - Parameter configuration: nil: only the daemon's own unit is looked at.
    package init?(of configuration: Configuration? = nil) {
        guard let daemon = ServiceUnit.ofDaemon() else { return nil }
        self.daemon = daemon.name
        var names = [daemon.name]
        let clients = configuration.map { Array($0.clients.values) } ?? []
        names += Set(clients.flatMap { $0.targets.map(\.target) }).sorted().map { Self.unit(of: $0) }
        if configuration?.store != nil { names.append("clientsecretd-store.service") }
        let served = clients.compactMap(\.credential).filter { !$0.unit.contains("@.") }
        do throws(UnitError) {
            var systemd = try UnitManager(patience: Self.patience, cancel: nil)
            var units: [(String, UnitSettings)] = []
            for name in names {
                if let settings = try systemd.settings(of: name) { units.append((name, settings)) }
            }
            var consumers: [(ServedCredential, UnitSettings)] = []
            for credential in served where credential.unit.hasSuffix(".service") {
                if let settings = try systemd.settings(of: credential.unit) { consumers.append((credential, settings)) }
            }
            self.units = units
            self.consumers = consumers.sorted { $0.0.unit < $1.0.unit }
        } catch {
            return nil
        }
    }

    fileprivate static func unit(of target: TargetName) -> String { "clientsecretd-push@\(target).service" }

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

    /// What keeps a secret or a token from a unit that is to load it, and what keeps a helper from starting, a line each.
    package var obstacles: [String] {
        unusableUsers + missingCredentials
    }

    private var unusableUsers: [String] {
        units.filter { !$0.settings.hasUsableUser }.map { unit in
            "\(unit.name) cannot start, because systemd takes no user's name that long or with such characters; write a "
                + "shorter name for the target, or User= into its [Service] section with systemctl edit \(unit.name)"
        }
    }

    private var missingCredentials: [String] {
        consumers.compactMap { credential, settings in
            guard !settings.loads(credential.name) else { return nil }
            let removed = settings.removedCredentials.first { $0.name == credential.name }
            let why =
                removed.map { "\(Printable.name($0.file)) takes it away" } ?? "it has no LoadCredential= of that name"
            return "\(credential.unit) does not load the credential \(Printable.name(credential.name)): \(why); "
                + (removed.map { Self.advice(for: credential.unit, after: $0.file, "publish it as a file") }
                    ?? "write LoadCredential=\(credential.name):/run/clientsecretd/credentials.sock into its [Service] section")
        }
            + units.filter { $0.name != daemon }.flatMap { unit in
                unit.settings.removedCredentials.map { removed in
                    "\(unit.name) does not get the credential \(Printable.name(removed.name)): "
                        + "\(Printable.name(removed.file)) takes it away; "
                        + Self.advice(for: unit.name, after: removed.file, "keep it in a file (\"token_file\")")
                }
            }
    }

    fileprivate static func advice(for unit: String, after file: String, _ otherwise: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return "write it into a drop-in of \(unit) whose name comes after \(Printable.name(name)), or \(otherwise)"
    }

    /// The failure with what systemd knows of it: whether a drop-in has taken the credential away that it is about. Blocks.
    static func explained(_ failure: Failure) -> Failure {
        let unit: String
        switch (failure.code, failure.place) {
        case (.credentialMissing, .credential): unit = ServiceUnit.ofDaemon()?.name ?? ""
        case (.pushTokenUnusable, .target(let target)): unit = Self.unit(of: target)
        default: return failure
        }
        guard SystemManager.isSystemd, !unit.isEmpty else { return failure }
        let found: UnitSettings?
        do throws(UnitError) {
            var systemd = try UnitManager(patience: patience, cancel: nil)
            found = try systemd.settings(of: unit)
        } catch {
            return failure
        }
        var removed = found?.removedCredentials ?? []
        if case .credential(let name) = failure.place { removed.removeAll { $0.name != name } }
        guard let first = removed.first else { return failure }
        let file = failure.code == .credentialMissing ? "\"file\" of the key" : "\"token_file\" of the target"
        return Failure(
            failure.code, at: failure.place, cause: failure.cause,
            detail: "\(unit) names \(Printable.name(first.name)), and \(Printable.name(first.file)) takes it away",
            remedy: .say(advice(for: unit, after: first.file, "name a file instead (\(file))")))
    }
}
