package import AppleClientSecret
package import Keys
import Linux
package import Model
import Systemd

/// A service that reads a client's secret, and its processes.
package struct ReaderUnit: Hashable, Sendable {
    package let name: String
    /// Such as `active`, `inactive` or `failed`; nil where systemd cannot be asked.
    package let activity: String?

    package init(name: String, activity: String?) {
        self.name = name
        self.activity = activity
    }

    /// The services of `on_change` and of the credential, in the order of the configuration. Oneshots that `start:` runs read
    /// no secret of their own. Blocks.
    package static func all(of client: ClientConfiguration) -> [ReaderUnit] {
        var names: [String] = []
        for action in client.onChange {
            switch action {
            case .unit(.start, _), .exec, .redeploy: break
            case .unit(_, let unit), .signal(let unit, _): names.append(unit)
            }
        }
        if let credential = client.credential { names.append(credential.unit) }
        var seen: Set<String> = []
        names = names.filter { seen.insert($0).inserted }
        guard SystemManager.isSystemd, !names.isEmpty else { return names.map { ReaderUnit(name: $0, activity: nil) } }
        do throws(UnitError) {
            var systemd = try SystemdClient(cancel: nil)
            var units: [ReaderUnit] = []
            for name in names {
                units.append(ReaderUnit(name: name, activity: try systemd.condition(of: name).activity))
            }
            return units
        } catch {
            return names.map { ReaderUnit(name: $0, activity: nil) }
        }
    }
}

/// A process that reads a client's secret, or seems to.
package struct ReaderProcess: Hashable, Sendable {
    package let id: Int32
    /// The first bytes of its program's name, which it can choose.
    package let command: String
    /// The service to which it belongs; nil for another process that holds a secret of the client's.
    package let unit: String?
    /// The user that it runs as; nil when it has ended.
    package let owner: UInt32?
    /// The group that it runs as; nil when it has ended.
    package let group: UInt32?
    /// Nil when it has ended.
    package let startedAt: WallTime?
    package let secrets: [HeldSecret]

    package init(
        id: Int32, command: String, unit: String?, owner: UInt32?, group: UInt32? = nil, startedAt: WallTime?,
        secrets: [HeldSecret]
    ) {
        self.id = id
        self.command = command
        self.unit = unit
        self.owner = owner
        self.group = group
        self.startedAt = startedAt
        self.secrets = secrets
    }

    /// How many processes of one service are looked into.
    private static let limit = 256

    /// The processes of these services, and those of the outputs' readers whose variables hold a client secret that one of these
    /// keys signed: any user can start a process with a token that it made up. For root; others see little.
    ///
    /// - Parameter readers: who may read one of the outputs.
    package static func all(
        of units: Set<String>, readers: OutputReaders, signedBy keys: [PublicKey]
    ) -> [ReaderProcess] {
        var counts: [String: Int] = [:]
        return RunningProcess.all().compactMap { process in
            let unit = process.unit
            if let unit, unit.hasPrefix("clientsecretd") { return nil }
            guard let unit, units.contains(unit) else {
                guard readers.include(user: process.owner, group: process.group) else { return nil }
                let secrets = process.secretsInEnvironment { $0.isSigned(by: keys) }
                return secrets.isEmpty ? nil : ReaderProcess(process, unit, secrets)
            }
            counts[unit, default: 0] += 1
            return counts[unit, default: 0] > limit ? nil : ReaderProcess(process, unit, process.secrets)
        }
    }

    private init(_ process: RunningProcess, _ unit: String?, _ secrets: [HeldSecret]) {
        self.init(
            id: process.id, command: process.command ?? "?", unit: unit, owner: process.owner,
            group: process.group, startedAt: process.startedAt, secrets: secrets)
    }
}
