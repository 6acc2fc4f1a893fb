package import Failures
import Linux
import Model
import Systemd

/// A unit of the package that works now, and that systemd does not start at the next boot.
package struct IdleUnit: Hashable, Sendable {
    package let name: String
    /// The user whose files it writes; nil for another unit.
    package let writer: String?

    package init(name: String, writer: String? = nil) {
        self.name = name
        self.writer = writer
    }

    package var remedy: Remedy { .run(.enable(name), otherwise: "enable \(name)") }

    /// The problem and the remedy.
    package var sentence: String {
        let subject = writer.map { "the writer of \(Owner.words(userNamed: $0))" } ?? name
        return "\(subject) does not start after a reboot; \(remedy)"
    }

    /// Those that a configuration needs: the one that runs the daemon, and its helpers' sockets. To enable the daemon's enables its
    /// own sockets too. None if systemd cannot be asked. Blocks.
    static func all(for configuration: Configuration, daemon: ServiceUnit) -> [IdleUnit] {
        let isSingleRun = daemon.name == PackageUnit.singleRun
        let main = isSingleRun ? PackageUnit.singleRunTimer : daemon.name
        let helpers = sockets(of: configuration, daemonUser: daemon.settings.user)
        let other = isSingleRun ? PackageUnit.daemon : PackageUnit.singleRunTimer
        let found: [IdleUnit]? = SystemdClient.ask { systemd throws(UnitError) in
            var found: [IdleUnit] = []
            if try systemd.isIdleAfterBoot(main, unless: other) { found.append(IdleUnit(name: main)) }
            for unit in helpers {
                if try systemd.isIdleAfterBoot(unit.name) { found.append(unit) }
            }
            return found
        }
        return found ?? []
    }

    /// The sockets of the daemon's helpers that a configuration uses.
    private static func sockets(of configuration: Configuration, daemonUser: String?) -> [IdleUnit] {
        let clients = configuration.clients.values
        var sockets: [IdleUnit] = []
        if clients.contains(where: \.verify) { sockets.append(IdleUnit(name: PackageUnit.verifierSocket)) }
        for target in Set(clients.flatMap { $0.targets.map(\.target) }).sorted() {
            sockets.append(IdleUnit(name: PackageUnit.pusherSocket(of: target)))
        }
        if configuration.store != nil { sockets.append(IdleUnit(name: PackageUnit.storeSocket)) }
        for user in Set(configuration.files.values.compactMap(\.owner)).sorted() where user != daemonUser {
            sockets.append(IdleUnit(name: PackageUnit.writerSocket(of: user), writer: user))
        }
        return sockets
    }
}
