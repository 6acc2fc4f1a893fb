internal import Failures
import Glibc
package import Linux
package import Model
import NIOCore
import NIOPosix

/// HTTP/1.1 over the status socket, on a separate thread: serves the last snapshot, and passes requests on.
///
/// It never asks the rotation for anything it shows, so that no client can delay the rotation.
package final class StatusServer: Sendable {
    /// Takes a request, its sender, and the ID to ``answer(_:_:)`` it by, and returns at once; called on the server's thread.
    package typealias Handler = @Sendable (DaemonRequest, Peer, RequestID) -> Void

    /// Connections that may wait to be accepted: twice as many as may be open.
    private static let listenBacklog: Int32 = 128

    /// The thread runs until the process ends: ending it earlier takes libdispatch's pool, which sets priorities, and a
    /// service may not do that.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let listeners: [any Channel]
    private let router: NIOLoopBound<Router>
    private let shared: SharedState

    /// Serves on `listener`, a Unix socket, and for monitoring on `metrics`, which may be TCP on loopback. It duplicates their
    /// descriptors, so that the caller may close these.
    ///
    /// It starts a thread: first block the signals that another one waits for. No connection is accepted before the
    /// first ``show(_:)``: on a socket from systemd clients wait already, one of which may have started the daemon.
    package init(
        listener: ListeningSocket, metrics: ListeningSocket? = nil, control: ControlPermission,
        limits: HTTPLimits = HTTPLimits(), handle: @escaping Handler
    ) throws(Failure) {
        try Self.prepare(listener, isMetrics: false)
        if let metrics { try Self.prepare(metrics, isMetrics: true) }
        let eventLoop = Self.group.next()
        let shared = SharedState(control: control)
        var opened: [any Channel] = []
        do {
            let router = try eventLoop.submit {
                NIOLoopBound(
                    Router(shared: shared, limits: limits, eventLoop: eventLoop, handle: handle),
                    eventLoop: eventLoop)
            }.wait()
            opened.append(try Self.open(listener, isMetrics: false, at: router))
            if let metrics { opened.append(try Self.open(metrics, isMetrics: true, at: router)) }
            self.router = router
        } catch {
            // Clients must not wait at the other one.
            for channel in opened { try? channel.close().wait() }
            throw Failure(.socketUnusable, at: .named(Self.place), detail: "\(error)")
        }
        listeners = opened
        self.shared = shared
    }

    /// Serves `snapshot` from now on; the first one starts accepting connections. Any thread; later ones wake none.
    package func show(_ snapshot: Snapshot) {
        guard shared.show(snapshot) else { return }
        for listener in listeners { listener.setOption(.autoRead, value: true).whenFailure { _ in } }
    }

    /// Replaces the policy of which users may renew and reload.
    package func permit(_ control: ControlPermission) {
        shared.control = control
    }

    /// Answers a request. Any thread; a second answer, or one after ``stop()``, is ignored.
    package func answer(_ requestID: RequestID, _ answer: Answer) {
        shared.settle(requestID) { [router] in
            Self.group.next().execute { router.value.settle(requestID, answer) }
        }
    }

    /// Closes every connection; clients that wait are answered that the daemon stops. The socket's path stays.
    package func stop() {
        guard shared.close() else { return }
        let router = router
        // Both errors may be ignored: the thread still runs, and a socket whose `close` fails is still closed.
        for listener in listeners { try? listener.close().wait() }
        try? Self.group.next().flatSubmit { router.value.stop() }.wait()
    }
}

extension StatusServer {
    /// Bytes per read: every ordinary request fits, and requests that a client sends ahead of its answers cost no more.
    private static let readSize = 4096

    private static let place = "status socket"
    private static let metricsPlace = "metrics socket"

    /// Checks `listener`, and listens on it. The status socket has to be a Unix socket, because others have no peer credentials.
    /// The metrics socket must not be reachable from other machines.
    private static func prepare(_ listener: ListeningSocket, isMetrics: Bool) throws(Failure) {
        let place = Failure.Place.named(isMetrics ? metricsPlace : place)
        guard listener.kind.family == .unix || isMetrics && listener.kind.isOnLoopback else {
            throw Failure(
                .socketUnusable, at: place, cause: EPROTONOSUPPORT,
                detail: isMetrics
                    ? "it is on an address that other machines reach" : "it is not a Unix stream socket",
                remedy: isMetrics
                    ? .say("write a loopback one into its unit, such as ListenStream=127.0.0.1:9467") : nil)
        }
        guard listen(listener.raw, listenBacklog) == 0 else {
            throw Failure(.socketUnusable, at: place, cause: errno)
        }
    }

    private static func open(
        _ listener: ListeningSocket, isMetrics: Bool, at router: NIOLoopBound<Router>
    ) throws -> any Channel {
        try ServerBootstrap(group: group)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                }
            }
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readSize))
            // `printf … | socat` closes its sending side before it reads the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try configure(channel, isMetrics: isMetrics, at: router.value)
                }
            }
            .withBoundSocket(try listener.descriptor.duplicate().release()).wait()
    }

    private static func configure(_ channel: any Channel, isMetrics: Bool, at router: Router) throws {
        let pipeline = channel.pipeline.syncOperations
        let listener: ListenerKind? = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            descriptor in
            // NIO accepts without close-on-exec, and other threads start hooks, which must not inherit the descriptor.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return isMetrics ? .metrics : .status(try Peer(of: descriptor))
        }
        guard let listener else { throw ChannelError.operationUnsupported }
        try pipeline.addHandlers(HTTPConnection(router: router, listener: listener).handlers())
    }
}
