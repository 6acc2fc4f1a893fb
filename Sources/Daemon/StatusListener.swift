import Failures
import Linux
import Rotation
import StatusAPI
import SystemPackage
import Systemd

/// The status server together with the socket it listens on: one that systemd passed, or one of the daemon's own.
final class StatusListener: Sendable {
    let server: StatusServer
    /// Nil when systemd passed the socket, which then outlives the daemon.
    private let own: UnixListener?

    /// `FileDescriptorName=` of the socket's unit.
    static let passedName = "status"
    /// The one for monitoring.
    static let metricsName = "metrics"

    /// - Parameters:
    ///   - passed: the socket that systemd passed under the name ``passedName``, if it did.
    ///   - metrics: the socket for monitoring that systemd passed, if it did; closed when this throws.
    ///   - path: where a socket of the daemon's own is made otherwise.
    init(
        passed: consuming PassedSocket?, metrics: consuming PassedSocket?, path: String, control: ControlPolicy,
        handle: @escaping StatusServer.Handler
    ) throws(Failure) {
        let descriptor: Int32
        if let passed {
            // Who asks for something is told by the kernel, which knows it of Unix sockets alone.
            guard passed.family == .unix else {
                throw Failure(
                    .socketUnusable, at: .named("the socket \(Self.passedName) from systemd"),
                    detail: "not a Unix socket", remedy: .say("write ListenStream=\(path) into its unit"))
            }
            descriptor = passed.release()
            own = nil
        } else {
            do {
                let listener = try UnixListener(path: path, mode: 0o600)
                // The server closes what it is given; the name has to be taken away after that.
                descriptor = try listener.descriptor.duplicate().release()
                own = consume listener
            } catch {
                let remedy: Remedy? =
                    switch error.errno {
                    // Whoever listens there is not to be removed.
                    case .addressInUse: .say("stop what listens there, or name another with --socket")
                    // The directory is root's, so that systemd opens the socket; here it was not to.
                    case .permissionDenied, .readOnlyFileSystem:
                        .say(
                            "without systemd name another with --socket, else let systemd open it",
                            run: "systemctl unmask clientsecretd.socket && systemctl restart clientsecretd")
                    default: nil
                    }
                throw Failure(.socketUnusable, at: .named(path), cause: error.errno.rawValue, remedy: remedy)
            }
        }
        server = try StatusServer(
            listener: descriptor, metrics: metrics?.release(), version: Version.current, control: control,
            limits: StatusServer.Limits(descriptors: Descriptor.limit), handle: handle)
    }

    /// Lets these renew and reload from now on, and where the socket is the daemon's own look as well: what is shown names
    /// every client and path, and whoever may open the socket may read. A socket from systemd is its unit's.
    ///
    /// - Returns: what the socket lacks for that.
    func permit(_ control: ControlPolicy) -> Input {
        server.permit(control)
        do throws(SystemError) {
            try own?.permit(group: control.group?.id)
        } catch {
            // Without a group nobody lacks anything: root and the daemon's user are let in by their user alone.
            guard let group = control.group else { return .faultCleared(.groupNotPermitted) }
            return .faultRaised(
                Failure(
                    .groupNotPermitted, at: .named("the status socket"), cause: error.errno.rawValue, detail: group.name
                ))
        }
        return .faultCleared(.groupNotPermitted)
    }

    /// Turns away everybody who waits, for a daemon that does not come to run: whoever is left in the queue of systemd's
    /// sockets has it start the daemon until it gives them up. Why is for those alone who may open the status socket.
    static func turnAway(_ sockets: inout PassedSockets, _ why: (headline: String, all: [String])) {
        for name in [passedName, metricsName] {
            guard let passed = try? sockets.take(name) else { continue }
            let isToldWhy = passed.family == .unix
            let listener = Descriptor(adopting: passed.release())
            guard (try? listener.setNonBlocking()) != nil else { continue }
            if isToldWhy {
                Unavailable.turnAway(listener, headline: why.headline, diagnostics: why.all, within: farewell)
            } else {
                while (try? UnixListener.accept(on: listener.raw)) != nil {}
            }
        }
    }

    /// How long visitors may hold up the end of a daemon that does not come to run (milliseconds).
    private static let farewell: Int64 = 1_000

    /// Takes away the name of a socket of the daemon's own; one that systemd passed stays, and systemd listens on it
    /// until the next start.
    func close() {
        server.stop()
        own?.removeName()
    }
}

extension ControlPolicy {
    /// Root, the daemon's own user and, where there is one, the configured group.
    init(_ configuration: Configuration, _ identity: Identity) {
        let group = configuration.controlGroup.flatMap { name in
            (try? Accounts.groupID(name)).flatMap { $0 }.map { Group(name: name, id: $0) }
        }
        self.init(daemonUser: identity.user, group: group)
    }

    /// Whether the configured group is one that exists.
    func lack(in configuration: Configuration) -> Input {
        guard let name = configuration.controlGroup, group == nil else { return .faultCleared(.unknownGroup) }
        return .faultRaised(Failure(.unknownGroup, at: .named(name)))
    }
}
