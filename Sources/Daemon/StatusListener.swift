import Failures
import Glibc
import Linux
import Model
import Outputs
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
        passed: consuming PassedSocket?, metrics: consuming PassedSocket?, path: String, control: ControlPermission,
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
                    case .noSuchFileOrDirectory, .notDirectory:
                        .say(
                            "create the socket's directory, or name another socket with --socket, and restart the daemon"
                        )
                    case .fileNameTooLong: .say("name a shorter path with --socket, and restart the daemon")
                    // What listens there must not lose its socket.
                    case .addressInUse: .say("stop the program that listens there, or use another --socket")
                    // The directory is root's, because systemd is to open the socket; here it did not.
                    case .permissionDenied, .readOnlyFileSystem:
                        Self.mask
                            ?? Remedy.say(
                                "without systemd, name another socket with --socket; with systemd, let systemd open it",
                                run: .passStatusSocket)
                    case .notSocket: nil
                    // No other path helps.
                    case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .ioError:
                        .say("when that is resolved, restart the daemon", run: .restart())
                    default: .say("name another socket with --socket, and restart the daemon")
                    }
                throw Failure(.socketUnusable, at: .named(path), cause: error.errno.rawValue, remedy: remedy)
            }
        }
        do throws(Failure) {
            server = try StatusServer(
                listener: descriptor, metrics: metrics?.release(), control: control,
                limits: HTTPLimits(descriptors: Descriptor.limit), handle: handle)
        } catch {
            // No daemon answers there.
            own?.removeName()
            throw error
        }
    }

    /// What helps where systemd may not open the socket; nil where it may, or another daemon's is meant.
    private static var mask: Remedy? {
        let context = CommandContext.current
        return context.hasSystemd && context.socket == nil ? UnitMask.remedy(ofSocket: "clientsecretd.socket") : nil
    }

    /// Lets these renew and reload from now on. Their group may also open the daemon's own socket, and so read the
    /// status, which names every client and path. The mode of a socket from systemd is set in its unit.
    ///
    /// - Returns: the daemon fault that this raises or clears.
    func permit(_ control: ControlPermission) -> Input {
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

    /// Answers every waiting client with the reason when the daemon does not start: systemd would start the daemon again and
    /// again for clients that are left in the queue. If one waited, those who come until ``startPause`` has passed since the
    /// start are answered, too. So clients that ask often start it no more than once in that time; for more starts than
    /// `TriggerLimitBurst=` allows (systemd.socket(5)), systemd would close the socket for good.
    ///
    /// The metrics socket, which shows no names or paths otherwise, does not say why; over TCP its connections are only
    /// closed.
    ///
    /// - Parameter startedAt: on the clock of ``Clocks/bootMilliseconds()``.
    static func refuseWaiting(
        at sockets: inout PassedSockets, _ why: (headline: String, all: [String]), startedAt: Int64
    ) {
        let refusals = [
            Refusal(of: passedName, in: &sockets, StartFailureResponse(headline: why.headline, diagnostics: why.all)),
            Refusal(
                of: metricsName, in: &sockets, StartFailureResponse(headline: "there are no metrics", diagnostics: [])),
        ].compactMap { $0 }
        guard refusals.reduce(false, { $1.answerAll() || $0 }) else { return }
        while true {
            let rest = startedAt + startPause - Clocks.bootMilliseconds()
            guard rest > 0, Descriptor.ready(refusals.map(\.raw), atMost: rest).contains(true) else { return }
            for refusal in refusals { _ = refusal.answerAll() }
        }
    }

    /// In milliseconds: half as often as `TriggerLimitBurst=20` in 10 s allows.
    private static let startPause: Int64 = 1_000

    /// A socket at which clients of a daemon that does not start wait.
    private struct Refusal {
        let raw: Int32
        private let listener: Listener
        private let response: StartFailureResponse?

        private final class Listener {
            let descriptor: Descriptor

            init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
        }

        /// Milliseconds that clients may take to send a request and to read the answer.
        private static let timeout: Int64 = 1_000

        /// Nil where systemd passed no such socket.
        init?(of name: String, in sockets: inout PassedSockets, _ response: StartFailureResponse) {
            guard let passed = try? sockets.take(name) else { return nil }
            self.response = passed.family == .unix ? response : nil
            let descriptor = Descriptor(adopting: passed.release())
            guard (try? descriptor.setNonBlocking()) != nil else { return nil }
            raw = descriptor.raw
            listener = Listener(descriptor)
        }

        /// Returns whether there was anybody.
        func answerAll() -> Bool {
            guard let response else {
                var wasAny = false
                while (try? UnixListener.accept(on: raw)) != nil { wasAny = true }
                return wasAny
            }
            return response.send(to: raw, within: Self.timeout)
        }
    }

    /// Removes the name of the daemon's own socket. One that systemd passed stays, and systemd listens on it until the
    /// next start.
    func close() {
        server.stop()
        own?.removeName()
    }
}

extension ControlPermission {
    /// Root, the daemon's own user and, where there is one, the configured group.
    init(_ configuration: Configuration, _ identity: Identity) {
        let group = configuration.controlGroup.flatMap { name in
            (try? Accounts.groupID(name)).map { Group(name: name, id: $0) }
        }
        self.init(daemonUser: identity.user, group: group)
    }

    /// A daemon fault when the configured group does not exist.
    func fault(in configuration: Configuration) -> Input {
        guard let name = configuration.controlGroup, group == nil else { return .faultCleared(.unknownGroup) }
        return .faultRaised(.unknownGroup(name, at: .named(name)))
    }
}
