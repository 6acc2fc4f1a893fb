import Failures
import Linux
import Model
import Outputs
import Rotation
import StatusAPI
import SystemPackage
import Systemd

/// The status server together with the socket it listens on: one that systemd passed, or the daemon's own.
final class StatusListener: Sendable {
    let server: StatusServer
    private let socket: ListeningSocket

    /// `FileDescriptorName=` of the socket's unit.
    static let passedName = "status"
    /// The same for the metrics socket.
    static let metricsName = "metrics"

    /// - Parameters:
    ///   - passed: the socket that systemd passed under the name ``passedName``, if it did.
    ///   - metrics: the socket for monitoring that systemd passed, if it did.
    ///   - path: where the daemon's own socket is created otherwise.
    init(
        passed: ListeningSocket?, metrics: ListeningSocket?, path: String, control: ControlPermission,
        handle: @escaping StatusServer.Handler
    ) throws(Failure) {
        if let passed { socket = passed } else { socket = try Self.open(path) }
        do throws(Failure) {
            server = try StatusServer(listener: socket, metrics: metrics, control: control, handle: handle)
        } catch {
            // No daemon answers there.
            socket.removeName()
            throw error
        }
    }

    /// Makes the daemon's own socket.
    private static func open(_ path: String) throws(Failure) -> ListeningSocket {
        do throws(SystemError) {
            return try ListeningSocket(path: path, mode: 0o600)
        } catch {
            let limit = ProcessLimit(reached: error.number, isStart: true)?.remedy(for: nil)
            let remedy: Remedy? =
                switch error.errno {
                case .noSuchFileOrDirectory, .notDirectory:
                    .say("create the socket's directory, or name another socket with --socket, and restart the daemon")
                case .fileNameTooLong: .say("name a shorter path with --socket, and restart the daemon")
                // The program that listens there must not lose its socket.
                case .addressInUse: .say("stop the program that listens there, or use another --socket")
                // The directory is root's, because systemd is to open the socket; here it did not.
                case .permissionDenied, .readOnlyFileSystem:
                    SocketUnit.mask(of: PackageUnit.statusSocket)
                        ?? Remedy.say(
                            "without systemd, name another socket with --socket; with systemd, let systemd open it",
                            run: .passStatusSocket)
                case .notSocket: nil
                // No other path helps. A process binds the socket.
                case _ where limit != nil, .ioError:
                    .say(
                        (limit?.words.map { "\($0); " } ?? "") + "when that is resolved, restart the daemon",
                        run: .restart())
                default: .say("name another socket with --socket, and restart the daemon")
                }
            throw Failure(.socketUnusable, at: .named(path), cause: error.number, remedy: remedy)
        }
    }

    /// Lets these renew and reload from now on. Their group may also open the daemon's own socket, and so read the
    /// status, which names every client and path. The mode of a socket from systemd is set in its unit.
    ///
    /// - Returns: the daemon fault that this raises or clears.
    func permit(_ control: ControlPermission) -> Input {
        server.permit(control)
        do throws(SystemError) {
            try socket.permit(group: control.group?.id)
        } catch {
            // Without a configured group this is no fault: root and the daemon's user may connect in any case.
            guard let group = control.group else { return .faultCleared(.groupNotPermitted) }
            return .faultRaised(
                Failure(
                    .groupNotPermitted, at: .named("the status socket"), cause: error.number, detail: group.name
                ))
        }
        return .faultCleared(.groupNotPermitted)
    }

    /// Answers every waiting client with the reason when the daemon does not start. Systemd would start the daemon again and
    /// again for clients that are left in the queue. If one waited, clients that come until ``startPause`` has passed since the
    /// start are answered, too. So clients that ask often start it no more than once in that time. For more starts than
    /// `TriggerLimitBurst=` allows (systemd.socket(5)), systemd would close the socket for good.
    ///
    /// The metrics socket never shows names or paths, so it does not give the reason; over TCP its connections are only closed.
    ///
    /// - Parameter startPause: of that length, from the start on.
    static func refuseWaiting(
        at sockets: inout PassedSockets, _ why: (headline: String, all: [String]), until startPause: Deadline
    ) {
        let responses = [
            (passedName, StartFailureResponse(headline: why.headline, diagnostics: why.all)),
            (metricsName, StartFailureResponse(headline: "there are no metrics", diagnostics: [])),
        ]
        var refusing: [(socket: ListeningSocket, response: StartFailureResponse)] = []
        for (name, response) in responses {
            if let socket = try? sockets.take(name) { refusing.append((socket, response)) }
        }
        func answerAll() -> Bool {
            refusing.map { $0.response.send(to: $0.socket, within: answerTime) }.contains(true)
        }
        guard answerAll() else { return }
        while !startPause.hasPassed,
            Descriptor.ready(refusing.map(\.socket.raw), atMost: startPause.rest).contains(true)
        {
            _ = answerAll()
        }
    }

    /// In milliseconds: half as often as `TriggerLimitBurst=20` in 10 s allows.
    static let startPause: Int64 = 1_000
    /// Milliseconds that clients of a daemon that does not start may take to send a request and to read the answer.
    private static let answerTime: Int64 = 1_000

    /// Stops serving, and removes the name of the daemon's own socket. One that systemd passed stays, and systemd listens on it
    /// until the next start.
    func close() {
        server.stop()
        socket.removeName()
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
