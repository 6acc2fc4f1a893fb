import AppleClientSecret
import Linux
import Model

/// The search for services that may take secrets from the daemon: those that the configuration names, and leftover ones.
extension SecretReader {
    /// The services that the configuration names as readers, by any of their names.
    static func named(in configuration: Configuration) -> Set<String> {
        let clients = configuration.clients.values
        let units = clients.compactMap(\.credential?.unit) + clients.flatMap(\.onChange).compactMap(\.reader)
        return Set(units.filter(isUsable))
    }

    /// The services whose files in /etc name the daemon: also those of a client that the configuration no longer has.
    static func namedInUnitFiles() -> Set<String> {
        let directory = "/etc/systemd/system"
        let own = ForeignFile.paths(matching: directory + "/*.service").map { ($0, RealPath.name(of: $0)) }
        let dropIns = ForeignFile.paths(matching: directory + "/*.service.d/*.conf").map { path in
            (path, String(RealPath.name(of: RealPath.directory(of: path)).dropLast(".d".count)))
        }
        let units = (own + dropIns).prefix(fileLimit).filter { path, name in
            isUsable(name)
                && ForeignFile.read(path, limit: sizeLimit)?.firstOffset(of: Array("clientsecretd".utf8)) != nil
        }
        return Set(units.map(\.1))
    }

    private static let fileLimit = 1_000
    /// In bytes; unit files are far shorter.
    private static let sizeLimit = 1 << 16

    /// A template has settings only as an instance.
    private static func isUsable(_ unit: String) -> Bool {
        unit.hasSuffix(".service") && !unit.contains("@.") && !unit.hasPrefix("clientsecretd")
    }
}
