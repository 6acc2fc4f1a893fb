package import Failures
import Linux
import SystemPackage

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
        isLookedFor ? unmasking(socket) : nil
    }

    /// The same, wherever the daemon looks for its sockets.
    package static func unmasking(_ socket: String) -> Remedy? {
        UnitMask.remedy(ofSocket: socket, then: restart(for: socket))
    }

    /// A daemon that runs without a socket gets it at its next start.
    private static func restart(for socket: String) -> ShellCommand? {
        isDaemons(socket) ? .restart(PackageUnit.daemon) : nil
    }

    /// Whether the daemon looks for the package's sockets.
    private static var isLookedFor: Bool { CommandContext.current.hasSystemd && CommandContext.current.socket == nil }

    /// The remedy if a socket itself is masked, and not only its service; nil if it is not. Also if systemd has loaded it so: it
    /// takes an empty file for a mask.
    package static func mask(of socket: String, in state: UnitState) -> Remedy? {
        if let remedy = UnitMask.remedy(of: socket, then: restart(for: socket)) { return remedy }
        guard state.load == "masked" else { return nil }
        return .say("\(socket) is masked: unmask it, if it is meant to run", see: .cat(socket))
    }

    /// Why a socket cannot be reached, in words that follow its name; nil if no reason is known.
    ///
    /// - Parameters:
    ///   - state: the state of its unit.
    ///   - file: the path at which it listens; nil if that is not known, as of a masked one.
    ///   - isWanted: whether it is the status socket, and the daemon runs and makes none itself.
    ///   - isAnswered: whether a process listens there. Only asked if systemd does not, which would start the daemon.
    static func shortfall(
        in state: UnitState, isMasked: Bool, file: String?, isWanted: Bool, isAnswered: (_ file: String) -> Bool
    ) -> String? {
        if isWanted, isMasked { return "is masked" }
        switch state.activity {
        case "failed": return "has failed: systemd does not listen there"
        case "active":
            guard let file, FileStatus.isAbsent(file) else { return nil }
            return "is active, and its file \(Printable.name(file)) is gone"
        case "inactive":
            // The daemon still has one that was stopped later.
            guard isWanted, let file, !isAnswered(file) else { return nil }
            return "is not started: systemd does not listen there"
        default: return nil
        }
    }

    /// Whether a process listens at a socket, or this user may not know. Blocks.
    static func isAnswered(_ file: String) -> Bool {
        do throws(SystemError) {
            _ = try UnixStream(connectingTo: file, timeoutSeconds: 1, milliseconds: 1_000)
            return true
        } catch {
            return ![.connectionRefused, .noSuchFileOrDirectory, .notDirectory].contains(error.errno)
        }
    }

    /// The remedy for a client that reaches nothing at the status socket while the service runs; nil if no reason is known.
    ///
    /// - Parameters:
    ///   - state: the state of the socket's unit.
    ///   - mask: the remedy if it is masked.
    ///   - isGone: whether its file is gone.
    package static func remedyOfStatusSocket(in state: UnitState, mask: Remedy?, isGone: Bool) -> Remedy? {
        if let mask { return mask }
        let again = ShellCommand.listenAgain(PackageUnit.statusSocket, of: PackageUnit.daemon, isWanted: true)
        switch state.activity {
        case "failed": return .say("the service runs, and systemd has given up its socket", run: again)
        case _ where isGone:
            return .say("the service runs, and its socket is gone: stop it and start it again", run: .startAgain)
        case "inactive": return .say("the service runs, and its socket is not started", run: again)
        default: return nil
        }
    }

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
    /// gone: systemd never creates the file of a socket again while it listens there. Also the status socket that the daemon, which
    /// runs, did not get. Blocks.
    package mutating func socketProblems() throws(UnitError) -> [SocketUnit.Problem] {
        let isDaemonUp = try state(of: PackageUnit.daemon).isUp
        var names = try units(matching: "clientsecretd*.socket", inStates: ["active", "failed"])
        // One that is masked or was not started.
        let own = PackageUnit.statusSocket
        if isDaemonUp, !names.contains(own) { names.append(own) }
        var found: [SocketUnit.Problem] = []
        for name in names {
            let state = try state(of: name)
            let mask = SocketUnit.mask(of: name, in: state)
            var isWanted = false
            if isDaemonUp, name == own, mask != nil || state.activity == "inactive" {
                isWanted = try settings(of: PackageUnit.daemon)?.value(ofFlag: "--socket") == nil
            }
            let words = SocketUnit.shortfall(
                in: state, isMasked: mask != nil, file: try path(ofSocket: name), isWanted: isWanted,
                isAnswered: SocketUnit.isAnswered)
            guard let words else { continue }
            let remedy =
                mask ?? SocketUnit.unmasking(name) ?? SocketUnit.remedy(of: name, in: state, isDaemonUp: isDaemonUp)
            found.append(SocketUnit.Problem(socket: name, words: words, remedy: remedy ?? .say("start it again")))
        }
        return found
    }
}
