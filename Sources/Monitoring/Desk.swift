import AppleClientSecret
import Linux
import NIOCore
import NIOHTTP1
import Rotation

/// What every connection shares: what is on show, who may do what, and the requests that wait for an answer. It lives
/// on the server's one thread.
final class Desk {
    /// A request as far as it matters here.
    struct Visit {
        let method: HTTPMethod
        let target: String
        let headers: HTTPHeaders
        let body: [UInt8]
        let door: Door
    }

    enum Outcome {
        case reply(Reply)
        /// The rotation is asked; the answer comes later.
        case ask(Request, Peer)
    }

    let limits: StatusServer.Limits
    private let shared: Shared
    private let handle: StatusServer.Handler
    private let eventLoop: any EventLoop
    private var exhibit: Exhibit
    private var pace = RenewalPace()
    /// Whom the rotation's answers are for.
    private var waiting: [UInt64: Conversation] = [:]
    private var conversations: [ObjectIdentifier: Conversation] = [:]
    private var visitors = Visitors()
    private var metricsQueue = MetricsQueue()
    /// Kept once the server stops.
    private var allGone: EventLoopPromise<Void>?

    init(
        shared: Shared, version: String, limits: StatusServer.Limits, eventLoop: any EventLoop,
        handle: @escaping StatusServer.Handler
    ) {
        self.shared = shared
        self.limits = limits
        self.eventLoop = eventLoop
        self.handle = handle
        exhibit = Exhibit(version: version)
    }

    var control: ControlPolicy { shared.control }

    /// Decides what becomes of a request that is read whole.
    func receive(_ visit: Visit) -> Outcome {
        refresh()
        do {
            return try decide(visit)
        } catch {
            return .reply(Reply(error))
        }
    }

    /// Puts a request to the rotation, whose answer goes to `conversation`, if that is still there.
    func ask(_ request: Request, of peer: Peer, for conversation: Conversation) {
        let ticket = shared.open()
        waiting[ticket] = conversation
        let desk = NIOLoopBound(self, eventLoop: eventLoop)
        handle(request, peer) { [shared, eventLoop] answer in
            shared.settle(ticket) { eventLoop.execute { desk.value.settle(ticket, answer) } }
        }
    }

    private func settle(_ ticket: UInt64, _ answer: Answer) {
        refresh()
        waiting.removeValue(forKey: ticket)?.settle(Reply(answer, known: exhibit.names))
    }

    /// Lets a connection in; the problem says why not.
    func enter(_ conversation: Conversation) throws(Problem) {
        if visitors.isFull(for: conversation.door, control: control, limits: limits) {
            metricsQueue.oldest?.giveWay()
        }
        if let reason = visitors.enter(conversation.door, control: control, limits: limits) {
            var problem = Problem(.serviceUnavailable, reason)
            problem.retryAfter = 1
            throw problem
        }
        conversations[ObjectIdentifier(conversation)] = conversation
        move(conversation, to: .request)
    }

    /// Notes that a connection sends a request, or is sent an answer, from now on.
    func move(_ conversation: Conversation, to stage: MetricsQueue.Stage) {
        // Not those that are turned away.
        guard conversation.door == .metrics, conversations[ObjectIdentifier(conversation)] != nil else { return }
        metricsQueue.put(conversation, in: stage, limit: limits.connectionsPerUser)?.giveWay()
    }

    func leave(_ conversation: Conversation) {
        guard conversations.removeValue(forKey: ObjectIdentifier(conversation)) != nil else { return }
        metricsQueue.remove(conversation)
        visitors.leave(conversation.door)
        if conversations.isEmpty { allGone?.succeed() }
    }

    var isStopping: Bool { allGone != nil }

    /// Ends every conversation, each when its client has what it is being given; done when the last one has left.
    func stop() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        allGone = promise
        if conversations.isEmpty { promise.succeed() }
        for conversation in conversations.values { conversation.stop() }
        return promise.futureResult
    }

    private func refresh() {
        let shown = shared.shown
        exhibit.show(shown.snapshot, revision: shown.revision)
    }

    private func decide(_ visit: Visit) throws(Problem) -> Outcome {
        let peer: Peer?
        switch visit.door {
        case .status(let who): peer = who
        case .metrics:
            try screen(visit)
            peer = nil
        }
        guard let route = Route(target: visit.target) else {
            throw Problem(
                .notFound,
                "there is nothing at \"\(Problem.shortened(visit.target))\"; there are /v1/status, /v1/clients/NAME, "
                    + "/v1/renew, /v1/clients/NAME/renew, /v1/reload, /healthz, /readyz and /metrics")
        }
        let isMethodKnown = route.isControl ? visit.method == .POST : visit.method == .GET || visit.method == .HEAD
        guard isMethodKnown else {
            var problem = Problem(
                .methodNotAllowed, "\(visit.method.rawValue) is not for this address; use \(route.allow)")
            problem.allow = route.allow
            throw problem
        }
        // Nobody is let in before there is one.
        guard let snapshot = exhibit.snapshot else { throw Problem(.serviceUnavailable, "the daemon is starting") }
        guard route.isControl, let peer else { return .reply(try page(route, snapshot)) }
        return .ask(try request(route, visit, of: peer), peer)
    }

    /// Turns away what the socket for monitoring does not know.
    private func screen(_ visit: Visit) throws(Problem) {
        guard let host = visit.headers["host"].first, Door.isLoopback(host: host), visit.target.hasPrefix("/") else {
            throw Problem(.misdirectedRequest, "this is answered by names of this machine alone; ask localhost")
        }
        switch Route(target: visit.target) {
        case .metrics, .health, .readiness: return
        case .status, .client, .renew, .renewClient, .reload, nil:
            throw Problem(.notFound, "there are /metrics, /healthz and /readyz here; the rest is on the Unix socket")
        }
    }

    private func page(_ route: Route, _ snapshot: Snapshot) throws(Problem) -> Reply {
        switch route {
        case .status:
            return Reply(.ok, "application/json", exhibit.statusText(of: snapshot))
        case .client(let name):
            guard let view = exhibit.client(name) else { throw .unknownClients([name], known: exhibit.names) }
            return .json(StatusDocument.Client(view).members.rendered)
        case .health:
            let line = ([snapshot.standing.rawValue] + [snapshot.reason?.sentence].compactMap { $0 })
            return .text(snapshot.standing == .critical ? .serviceUnavailable : .ok, line.joined(separator: ": "))
        case .metrics:
            return Reply(.ok, MetricsText.contentType, exhibit.metricsText(of: snapshot))
        case .readiness, .renew, .renewClient, .reload:
            return .text(snapshot.ready ? .ok : .serviceUnavailable, snapshot.ready ? "ready" : "not ready")
        }
    }

    private func request(_ route: Route, _ visit: Visit, of peer: Peer) throws(Problem) -> Request {
        guard control.permits(peer) else { throw Problem(.forbidden, control.refusal(to: peer)) }
        guard !isStopping else { throw Problem(.serviceUnavailable, "the daemon is stopping") }
        try requireJSON(visit)
        guard shared.isRoom(limits.pendingRequests) else {
            var problem = Problem(
                .serviceUnavailable,
                "\(limits.pendingRequests) requests wait for their outcome already; try again later")
            problem.retryAfter = 1
            throw problem
        }
        switch route {
        case .renew:
            return .renew(try renewal(visit, of: nil, by: peer))
        case .renewClient(let name):
            return .renew(try renewal(visit, of: name, by: peer))
        case .reload, .status, .client, .health, .readiness, .metrics:
            guard visit.body.isEmpty else { throw Problem(.badRequest, "a reload takes no body; send none") }
            return .reload
        }
    }

    private func requireJSON(_ visit: Visit) throws(Problem) {
        guard !visit.body.isEmpty else { return }
        let type = visit.headers["content-type"].first ?? "nothing that says what it is"
        let media = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard media == "application/json" else {
            throw Problem(
                .unsupportedMediaType,
                "the body comes as \(Problem.shortened(type)); send JSON with \"Content-Type: application/json\"")
        }
    }

    private func renewal(_ visit: Visit, of named: String?, by peer: Peer) throws(Problem) -> Request.Renewal {
        let body = try RenewalBody(json: visit.body)
        if named != nil, body.clients != nil {
            throw Problem(.badRequest, "the address names the client; leave \"clients\" out of the body")
        }
        let wanted = named.map { [$0] } ?? body.clients ?? []
        if named == nil, body.clients?.isEmpty == true {
            throw Problem(.badRequest, "\"clients\" is empty; leave it out to renew all of them")
        }
        let known = Set(exhibit.names)
        let unknown = wanted.filter { name in ClientName(name).map { !known.contains($0) } ?? true }
        guard unknown.isEmpty else { throw .unknownClients(unknown, known: exhibit.names) }
        let clients = Set(wanted.compactMap { ClientName($0) })
        let refused = pace.ask(
            for: clients.isEmpty ? known : clients,
            at: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000),
            pause: limits.renewalPause, isRoot: peer.user == 0)
        if let refused {
            let seconds = max(1, (refused.wait + 999) / 1000)
            var problem = Problem(
                .tooManyRequests,
                "client \"\(refused.client)\" was asked for a moment ago; ask again in \(seconds) s (root need not wait)"
            )
            problem.retryAfter = seconds
            throw problem
        }
        return Request.Renewal(
            clients: clients, dueWithin: body.dueWithin, deliverOnly: body.deliverOnly ?? false,
            skipVerify: body.skipVerify ?? false)
    }
}
