import Linux
import Model
import Systemd

/// A service that reads a client's secret, and its processes.
struct ReaderUnit: Hashable, Sendable {
    let name: String
    /// Such as `active`, `inactive` or `failed`; nil where systemd cannot be asked.
    let activity: String?

    /// The services of `on_change` and of the credential, in the order of the configuration. Oneshots that `start:` runs read
    /// no secret of their own. Blocks.
    static func all(of client: ClientConfiguration) -> [ReaderUnit] {
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
