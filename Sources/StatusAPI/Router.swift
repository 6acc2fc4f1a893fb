import AppleClientSecret
import Linux
import Model
import NIOCore
import NIOHTTP1

/// The state that all connections share: the snapshot, the control policy, and the requests that await an answer. Used only on
/// the server's one thread.
final class Router {
    /// A whole request.
    struct ReceivedRequest {
        let head: RequestHead
        let body: [UInt8]
        let listener: ListenerKind

        var method: HTTPMethod { head.line.method }
        var path: String { head.line.path }
    }

    enum Outcome {
        case response(HTTPResponse)
        /// The rotation has to be asked; its answer comes later.
        case ask(DaemonRequest, Peer)
    }

    let limits: HTTPLimits
    private let shared: SharedState
    private let handle: StatusServer.Handler
    private let eventLoop: any EventLoop
    private var demands: KeyedRateLimit<RateLimitedRequest>
    /// The connections that await an answer of the rotation, by request id.
    private var waiting: [RequestID: [HTTPConnection]] = [:]
    /// The id of the last reload that was asked for, until it is answered.
    private var reload: RequestID?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private var connectionLimiter = OpenConnections()
    /// Connections that were sent their last answer and wait for their client to close them, the oldest first.
    private var dismissed: [HTTPConnection] = []
    private var metricsQueue = MetricsQueue()
    /// Connections that have more requests and have had their turn, the first to go on first.
    private var queued: [HTTPConnection] = []
    /// Set when the server stops; fulfilled when the last connection is closed.
    private var allClosed: EventLoopPromise<Void>?

    init(
        shared: SharedState, limits: HTTPLimits, eventLoop: any EventLoop,
        handle: @escaping StatusServer.Handler
    ) {
        self.shared = shared
        self.limits = limits
        demands = KeyedRateLimit(1, in: limits.requestPause)
        self.eventLoop = eventLoop
        self.handle = handle
    }

    var control: ControlPermission { shared.control }

    /// Answers a complete request, or decides to ask the rotation.
    func receive(_ received: ReceivedRequest) -> Outcome {
        do {
            return try decide(received)
        } catch {
            return .response(HTTPResponse(error))
        }
    }

    /// Passes a request to the rotation, whose answer goes to `connection` if that is still open.
    func ask(_ request: DaemonRequest, of peer: Peer, for connection: HTTPConnection) {
        if let reload, joins(request, peer) {
            waiting[reload, default: []].append(connection)
            return
        }
        let requestID = shared.open()
        waiting[requestID] = [connection]
        if request == .reload { reload = requestID }
        handle(request, peer, requestID)
    }

    /// Answers the connections that wait for a request.
    func settle(_ requestID: RequestID, _ answer: Answer) {
        if reload == requestID { reload = nil }
        let connections = waiting.removeValue(forKey: requestID) ?? []
        for connection in connections { connection.settle(HTTPResponse(answer, known: names)) }
    }

    /// Whether a request gets the answer of the reload in progress. Root's has the configuration read in any case: root may
    /// have changed it since the other one began.
    private func joins(_ request: DaemonRequest, _ peer: Peer) -> Bool {
        request == .reload && reload != nil && peer.user != 0
    }

    /// Admits a connection; throws why not.
    func enter(_ connection: HTTPConnection) throws(Problem) {
        if connectionLimiter.needsRoom(for: connection.listener, control: control, limits: limits) {
            metricsQueue.oldest?.evict()
        }
        if let reason = connectionLimiter.enter(connection.listener, control: control, limits: limits) {
            throw Problem(.serviceUnavailable, reason, retryAfter: 1)
        }
        connections[ObjectIdentifier(connection)] = connection
        move(connection, to: .request)
    }

    /// Notes that a connection of the metrics socket now sends a request, or is sent an answer.
    func move(_ connection: HTTPConnection, to stage: MetricsQueue.Stage) {
        // Refused connections are not queued.
        guard connection.listener == .metrics, connections[ObjectIdentifier(connection)] != nil else { return }
        metricsQueue.put(connection, in: stage, limit: limits.connectionsPerUser)?.evict()
    }

    /// Notes that a connection was sent its last answer. It counts no more, so a client may reconnect before it closes this one.
    /// When too many wait to be closed, the oldest is closed here.
    func dismiss(_ connection: HTTPConnection) {
        leave(connection)
        dismissed.append(connection)
        if dismissed.count > limits.dismissedConnections { dismissed.removeFirst().close() }
    }

    func leave(_ connection: HTTPConnection) {
        dismissed.removeAll { $0 === connection }
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        metricsQueue.remove(connection)
        // Reloads join the one in progress without limit, if their clients do not wait for its answer.
        for requestID in waiting.keys { waiting[requestID]?.removeAll { $0 === connection } }
        connectionLimiter.leave(connection.listener)
        if connections.isEmpty { allClosed?.succeed() }
    }

    /// Has a connection go on with its requests once the others have had their turn.
    func queue(_ connection: HTTPConnection) {
        queued.append(connection)
        if queued.count == 1 { scheduleNextTurn() }
    }

    /// One connection for each look at the sockets. The pause lets NIO look: before that it runs all tasks that are due.
    private func scheduleNextTurn() {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in
            queued.first?.takeTurn()
            queued.removeFirst()
            if !queued.isEmpty { scheduleNextTurn() }
        }
    }

    var isStopping: Bool { allClosed != nil }

    /// Closes every connection, after the request or answer under way; done when the last one is closed.
    func stop() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        allClosed = promise
        if connections.isEmpty { promise.succeed() }
        for connection in connections.values { connection.stop() }
        for connection in dismissed { connection.close() }
        return promise.futureResult
    }

    /// The clients of the last snapshot.
    private var names: [ClientName] { shared.snapshot?.clients.map(\.name) ?? [] }

    private func decide(_ received: ReceivedRequest) throws(Problem) -> Outcome {
        let (route, texts) = try route(of: received)
        guard route.methods.contains(received.method) else {
            let allow = route.methods.map(\.rawValue).joined(separator: ", ")
            throw Problem(
                .methodNotAllowed, "\(received.method.rawValue) is not allowed for this address; use \(allow)",
                allow: allow)
        }
        // No connection is accepted before the first snapshot.
        guard let snapshot = shared.snapshot else { throw Problem(.serviceUnavailable, "the daemon is starting") }
        switch (route.handler, received.listener) {
        case (.page(let page), _): return .response(try page(self)(snapshot, texts))
        case (.question(let request), .status(let peer)):
            // Every user may request this, so some room is left for requests to renew.
            try requireRoom(limits.pendingRequests / 2)
            return .ask(request, peer)
        case (.order(let request), .status(let peer)):
            guard control.permits(peer) else { throw Problem(.forbidden, control.refusal(to: peer)) }
            guard !isStopping else { throw Problem(.serviceUnavailable, "the daemon is stopping") }
            try requireJSON(received)
            try requireRoom(limits.pendingRequests)
            return .ask(try request(self)(received.body, peer, texts), peer)
        case (.question, .metrics), (.order, .metrics): throw Self.notForMonitoring
        }
    }

    /// The route of a request, and its address's texts for the route's names.
    private func route(of received: ReceivedRequest) throws(Problem) -> (Route, texts: [String]) {
        let isForMonitoring = received.listener == .metrics
        if isForMonitoring, received.head.authority?.isLoopback != true {
            throw Problem(.misdirectedRequest, "only names of this machine are served; use localhost")
        }
        for route in Route.all where route.isForMonitoring || !isForMonitoring {
            if let texts = route.texts(in: received.path) { return (route, texts) }
        }
        if isForMonitoring { throw Self.notForMonitoring }
        throw Problem(
            .notFound,
            "there is nothing at \"\(Problem.shortened(received.path))\"; there are "
                + alternatives(Route.all.map(\.path), joinedBy: "and"))
    }

    private static var notForMonitoring: Problem {
        let served = alternatives(Route.all.filter(\.isForMonitoring).map(\.path), joinedBy: "and")
        return Problem(.notFound, "there are \(served) here; the rest is on the Unix socket")
    }

    private func requireRoom(_ limit: Int) throws(Problem) {
        guard !shared.isRoom(limit) else { return }
        throw Problem(
            .serviceUnavailable, "\(limit) requests are already waiting for their outcome; try again later",
            retryAfter: 1)
    }

    private func requireJSON(_ received: ReceivedRequest) throws(Problem) {
        guard !received.body.isEmpty else { return }
        let type = received.head.headers["content-type"].first ?? "(none)"
        let media = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard media == "application/json" else {
            throw Problem(
                .unsupportedMediaType,
                "the body has the type \(Problem.shortened(type)); send JSON with \"Content-Type: application/json\"")
        }
    }

    /// Refuses a request that a user sent a moment ago.
    private func limit(_ demands: [RateLimitedRequest], by peer: Peer) throws(Problem) {
        guard peer.user != 0 else { return }
        let now = BootTime(milliseconds: Clocks.bootMilliseconds())
        guard let (demand, wait) = self.demands.take(demands, at: now) else { return }
        throw Problem(
            .tooManyRequests, "\(demand) a moment ago; try again in \(wait.count) s (root need not wait)",
            retryAfter: wait.count)
    }
}

// The answers of routes.
extension Router {
    func status(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        .json(snapshot.json)
    }

    func client(_ snapshot: Snapshot, _ texts: [String]) throws(Problem) -> HTTPResponse {
        guard let view = snapshot.clients.first(where: { [$0.name.description] == texts }) else {
            throw .unknownClients(texts, known: names)
        }
        return .json(view.json)
    }

    func metrics(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        let text = Metrics.text(of: snapshot) + ProcessMetrics.text(startedAt: snapshot.startedAt)
        return HTTPResponse(.ok, Metrics.contentType, ByteBuffer(string: text))
    }

    /// `/healthz`: the state and its reason; 503 if the state is `critical`.
    func health(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        let line = [snapshot.health.rawValue, snapshot.reason?.sentence].compactMap(\.self).joined(separator: ": ")
        return .text(snapshot.health == .critical ? .serviceUnavailable : .ok, line)
    }

    func readiness(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        snapshot.ready ? .text(.ok, "ready") : .text(.serviceUnavailable, "not ready")
    }

    func rollout(_ body: [UInt8], _ peer: Peer, _ texts: [String]) throws(Problem) -> DaemonRequest {
        guard body.isEmpty else { throw Problem(.badRequest, "this takes no body; send none") }
        guard let client = ClientName(texts[0]), names.contains(client),
            let deed = RolloutOrder(rawValue: texts[1])
        else {
            throw .unknownClients([texts[0]], known: names)
        }
        try limit([.rollout(client, deed)], by: peer)
        return .rollout(client, deed)
    }

    func reload(_ body: [UInt8], _ peer: Peer, _ texts: [String]) throws(Problem) -> DaemonRequest {
        guard body.isEmpty else { throw Problem(.badRequest, "a reload takes no body; send none") }
        if !joins(.reload, peer) { try limit([.reload], by: peer) }
        return .reload
    }

    /// - Parameter texts: the client that the address names, if it names one.
    func renew(_ body: [UInt8], _ peer: Peer, _ texts: [String]) throws(Problem) -> DaemonRequest {
        let wish = try RenewalBody(json: body)
        if !texts.isEmpty, wish.clients != nil {
            throw Problem(.badRequest, "the address names the client; leave \"clients\" out of the body")
        }
        if texts.isEmpty, wish.clients?.isEmpty == true {
            throw Problem(.badRequest, "\"clients\" is empty; leave it out to renew all of them")
        }
        let wanted = texts + (wish.clients ?? [])
        let known = Set(names)
        let unknown = wanted.filter { name in ClientName(name).map { !known.contains($0) } ?? true }
        guard unknown.isEmpty else { throw .unknownClients(unknown, known: names) }
        let clients = Set(wanted.compactMap { ClientName($0) })
        try limit((clients.isEmpty ? known : clients).map(RateLimitedRequest.renewal), by: peer)
        return .renew(
            DaemonRequest.Renewal(
                clients: clients, dueWithin: wish.dueWithin?.seconds, deliverOnly: wish.deliverOnly ?? false,
                skipVerify: wish.skipVerify ?? false))
    }
}
