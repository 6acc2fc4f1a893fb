package import Failures
import Linux
import Model
import Systemd

/// A unit of the package that works now, and that systemd does not start at the next boot.
package struct IdleUnit: Hashable, Sendable {
    package let name: String
    /// The user whose files it writes; nil for another unit.
    package let writer: String?
    private let obstacle: UnitStart.Obstacle

    init(name: String, writer: String? = nil, _ obstacle: UnitStart.Obstacle) {
        self.name = name
        self.writer = writer
        self.obstacle = obstacle
    }

    package var remedy: Remedy { obstacle.remedy(for: name, startingWith: .enable(name)) }

    /// The problem and the remedy.
    package var sentence: String {
        let subject = writer.map { "the writer of \(Owner.words(userNamed: $0))" } ?? name
        let words =
            obstacle == .masked(endsWithBoot: true)
            ? "does not start again before a reboot" : "does not start after a reboot"
        return "\(subject) \(words); \(remedy)"
    }

    /// Those that a configuration needs: the one that runs the daemon, and its helpers' sockets. To enable the daemon's enables its
    /// own sockets too. None if systemd cannot be asked. Blocks.
    ///
    /// - Parameters:
    ///   - daemon: the service that runs it.
    ///   - daemonUser: the user who runs it; nil if that is not known.
    static func all(for configuration: Configuration, daemon: String, as daemonUser: String?) -> [IdleUnit] {
        let isSingleRun = daemon == PackageUnit.singleRun
        let main = isSingleRun ? PackageUnit.singleRunTimer : daemon
        let helpers = sockets(of: configuration, daemonUser: daemonUser)
        let other = isSingleRun ? PackageUnit.daemon : PackageUnit.singleRunTimer
        let found: [IdleUnit]? = SystemdClient.ask { systemd throws(UnitError) in
            var found: [IdleUnit] = []
            if let obstacle = try systemd.obstacle(toStartOfActive: main, unless: other) {
                found.append(IdleUnit(name: main, obstacle))
            }
            for (name, writer) in helpers {
                guard let obstacle = try systemd.obstacle(toStartOfActive: name) else { continue }
                found.append(IdleUnit(name: name, writer: writer, obstacle))
            }
            return found
        }
        return found ?? []
    }

    /// The sockets of the daemon's helpers that a configuration uses, and for that of a writer its user.
    private static func sockets(
        of configuration: Configuration, daemonUser: String?
    ) -> [(name: String, writer: String?)] {
        let clients = configuration.clients.values
        var sockets: [(name: String, writer: String?)] = []
        if clients.contains(where: \.verify) { sockets.append((PackageUnit.verifierSocket, nil)) }
        for target in Set(clients.flatMap { $0.targets.map(\.target) }).sorted() {
            sockets.append((PackageUnit.pusherSocket(of: target), nil))
        }
        if configuration.store != nil { sockets.append((PackageUnit.storeSocket, nil)) }
        for user in Set(configuration.files.values.compactMap(\.owner)).sorted() where user != daemonUser {
            sockets.append((PackageUnit.writerSocket(of: user), user))
        }
        return sockets
    }
}

extension UnitStart.Obstacle {
    /// - Parameters:
    ///   - unit: its name.
    ///   - start: the command that a unit needs which is only not enabled.
    func remedy(for unit: String, startingWith start: ShellCommand?) -> Remedy {
        switch self {
        case .notEnabled: .run(start, otherwise: "enable \(unit)")
        // systemd also takes an empty file for a mask.
        case .masked:
            UnitMask.remedy(of: unit, then: start)
                ?? .say("\(unit) is masked: unmask it, if it is meant to run", see: .cat(unit))
        case .linkedUntilBoot:
            .say("its file is linked until the reboot only: enable it with the path of that file", see: .cat(unit))
        case .unusable: .say("systemd cannot use its file: correct it, or install it again", see: .status(of: unit))
        }
    }
}
