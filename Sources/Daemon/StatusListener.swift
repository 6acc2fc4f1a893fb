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
    /// The same for the metrics socket.
    static let metricsName = "metrics"

    /// - Parameters:
    ///   - passed: the socket that systemd passed under the name ``passedName``, if it did.
    ///   - metrics: the socket for monitoring that systemd passed, if it did; closed when this throws.
    ///   - path: where a socket of the daemon's own is made otherwise.
    init(
        passed: consuming PassedSocket?, metrics: consuming PassedSocket?, path: String, control: RenewalPermission,
        handle: @escaping StatusServer.Handler
    ) throws(Failure) {
        let descriptor: Int32
        if let passed {
            // The kernel reports the peer's user for Unix sockets only.
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
                // The server closes its descriptor; `own` removes the name after that.
                descriptor = try listener.descriptor.duplicate().release()
                own = consume listener
            } catch {
                let remedy: Remedy? =
                    switch error.errno {
                    // What listens there must not lose its socket.
                    case .addressInUse: .say("stop what listens there, or name another with --socket")
                    // The directory is root's, because systemd is to open the socket; here it did not.
                    case .permissionDenied, .readOnlyFileSystem:
                        .say(
                            "without systemd name another with --socket, else let systemd open it",
                            run: .passStatusSocket)
                    default: nil
                    }
                throw Failure(.socketUnusable, at: .named(path), cause: error.errno.rawValue, remedy: remedy)
            }
        }
        server = try StatusServer(
            listener: descriptor, metrics: metrics?.release(), control: control,
            limits: HTTPLimits(descriptors: Descriptor.limit), handle: handle)
    }

    /// Lets these renew and reload from now on. Their group may also open the daemon's own socket, and so read the
    /// status, which names every client and path. The mode of systemd's socket is set in its unit.
    ///
    /// - Returns: the daemon fault that this raises or clears.
    func permit(_ control: RenewalPermission) -> Input {
        server.permit(control)
        do throws(SystemError) {
            try own?.permit(group: control.group?.id)
        } catch {
            // Without a configured group this is no fault: root and the daemon's user may connect in any case.
            guard let group = control.group else { return .faultCleared(.groupNotPermitted) }
            return .faultRaised(
                Failure(
                    .groupNotPermitted, at: .named("the status socket"), cause: error.errno.rawValue, detail: group.name
                ))
        }
        return .faultCleared(.groupNotPermitted)
    }

    /// Answers every waiting client with the reason when the daemon does not start. systemd would start the daemon again
    /// and again for clients that are left in the queue, until it closes the sockets.
    ///
    /// The metrics socket, which shows no names or paths otherwise, does not say why; over TCP its connections are only
    /// closed.
    static func refuseWaiting(_ sockets: inout PassedSockets, _ why: (headline: String, all: [String])) {
        for name in [passedName, metricsName] {
            guard let passed = try? sockets.take(name) else { continue }
            let isUnix = passed.family == .unix
            let listener = Descriptor(adopting: passed.release())
            guard (try? listener.setNonBlocking()) != nil else { continue }
            switch (name, isUnix) {
            case (passedName, true):
                StartFailureResponse.send(
                    to: listener, headline: why.headline, diagnostics: why.all, within: refusalTime)
            case (_, true):
                StartFailureResponse.send(
                    to: listener, headline: "there are no metrics", diagnostics: [], within: refusalTime)
            case (_, false):
                while (try? UnixListener.accept(on: listener.raw)) != nil {}
            }
        }
    }

    /// Milliseconds that waiting clients may delay the end of a daemon that does not start.
    private static let refusalTime: Int64 = 1_000

    /// Removes the name of the daemon's own socket. One that systemd passed stays, and systemd listens on it until the
    /// next start.
    func close() {
        server.stop()
        own?.removeName()
    }
}

extension RenewalPermission {
    /// Root, the daemon's own user and, where there is one, the configured group.
    init(_ configuration: Configuration, _ identity: Identity) {
        let group = configuration.controlGroup.flatMap { name in
            (try? Accounts.groupID(name)).flatMap { $0 }.map { Group(name: name, id: $0) }
        }
        self.init(daemonUser: identity.user, group: group)
    }

    /// A daemon fault when the configured group does not exist.
    func lack(in configuration: Configuration) -> Input {
        guard let name = configuration.controlGroup, group == nil else { return .faultCleared(.unknownGroup) }
        return .faultRaised(Failure(.unknownGroup, at: .named(name)))
    }
}
