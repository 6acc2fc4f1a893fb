package import Failures
import Linux

/// The package's socket units, on which systemd listens for the daemon and its helpers, and how they are brought back.
package enum SocketUnit {
    /// The sockets that start the daemon.
    private static let daemons = [PackageUnit.statusSocket, PackageUnit.credentialSocket, PackageUnit.metricsSocket]

    /// Whether it is the package's: another unit with such a name may start anything.
    private static func isShipped(_ socket: String) -> Bool {
        isDaemons(socket) || [PackageUnit.verifierSocket, PackageUnit.storeSocket].contains(socket)
            || PackageUnit.isPusher(socket) || PackageUnit.isWriter(socket)
    }

    /// Whether it starts the daemon, and not a helper.
    package static func isDaemons(_ socket: String) -> Bool { daemons.contains(socket) }

    /// A socket that was started and cannot be reached.
    package struct Problem: Hashable, Sendable {
        /// The name of its unit.
        package let socket: String
        /// The problem, in words that follow the name.
        package let words: String
        package let remedy: Remedy

        package init(socket: String, words: String, remedy: Remedy) {
            self.socket = socket
            self.words = words
            self.remedy = remedy
        }
    }

    /// The remedy if nothing can be reached at a socket. Nil if ``ShellCommand/listen(_:)`` is the remedy: nothing has started it.
    /// Nil also if systemd does not answer, or the daemon looks for its sockets elsewhere. Blocks.
    package static func remedy(of socket: String) -> Remedy? {
        if let mask = Self.mask(of: socket) { return mask }
        guard isLookedFor, SystemManager.isSystemd else { return nil }
        return SystemdClient.ask(within: UnitTimeouts.shortAnswer) { systemd throws(UnitError) in
            let isDaemonUp = try systemd.state(of: PackageUnit.daemon).isUp
            return remedy(of: socket, in: try systemd.state(of: socket), isDaemonUp: isDaemonUp)
        }
    }

    /// The remedy if a socket is masked; nil if it is not, or if the daemon looks for its sockets elsewhere. systemd is not asked.
    package static func mask(of socket: String) -> Remedy? {
        isLookedFor ? UnitMask.remedy(ofSocket: socket) : nil
    }

    /// Whether the daemon looks for the package's sockets.
    private static var isLookedFor: Bool { CommandContext.current.hasSystemd && CommandContext.current.socket == nil }

    /// The same as ``remedy(of:)`` for a socket that is not masked.
    static func remedy(of socket: String, in state: UnitState, isDaemonUp: Bool) -> Remedy? {
        let isDaemons = isDaemons(socket)
        if state.load == "not-found" {
            let package = isDaemons || PackageUnit.isWriter(socket) ? "clientsecretd" : "clientsecretd-network"
            return .say("install the package \(package): this machine has no unit \(socket)")
        }
        // One of the daemon's is not started while the daemon runs, whatever its state.
        guard ["active", "failed"].contains(state.activity) || isDaemons && isDaemonUp else { return nil }
        guard isShipped(socket) else { return nil }
        // Each connection to this one starts an instance.
        let ownService =
            socket == PackageUnit.verifierSocket ? nil : String(socket.dropLast("socket".count)) + "service"
        return .run(
            .listenAgain(
                socket, of: isDaemons ? PackageUnit.daemon : ownService, isWanted: isDaemons && isDaemonUp),
            otherwise: "start it again")
    }
}

extension SystemdClient {
    /// The package's sockets that systemd has given up, for example because there were too many connections, or whose files are
    /// gone: systemd never creates the file of a socket again while it listens there. The commands that ask at the status socket
    /// notice themselves that its file is gone. Blocks.
    package mutating func socketProblems() throws(UnitError) -> [SocketUnit.Problem] {
        var found: [(socket: String, state: UnitState, words: String)] = []
        for name in try units(matching: "clientsecretd*.socket", inStates: ["active", "failed"]) {
            let state = try state(of: name)
            if state.activity == "failed" {
                found.append((name, state, "has failed: systemd does not listen there"))
            } else if name != PackageUnit.statusSocket, let path = try path(ofSocket: name), FileStatus.isAbsent(path) {
                found.append((name, state, "is active, and its file \(Printable.name(path)) is gone"))
            }
        }
        let daemon = try found.isEmpty ? nil : state(of: PackageUnit.daemon)
        return found.map { name, state, words in
            let remedy =
                UnitMask.remedy(ofSocket: name)
                ?? SocketUnit.remedy(of: name, in: state, isDaemonUp: daemon?.isUp == true)
            return SocketUnit.Problem(socket: name, words: words, remedy: remedy ?? .say("start it again"))
        }
    }
}
