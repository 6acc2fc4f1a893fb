import NIOCore
import NIOHTTP1
import Rotation

/// One HTTP connection: answers each request before it processes the next.
///
/// It does not read from the socket while an answer is made and sent, so that a client that sends many requests at once
/// costs one read buffer. What is in that buffer waits in `backlog`.
final class HTTPConnection {
    enum Phase {
        /// Between two requests.
        case quiet
        /// The first bytes of a request's head may have come.
        case head
        case body(HTTPRequestHead)
        /// Waits for the rotation's answer.
        case waiting(HTTPRequestHead)
        /// The answer is being sent.
        case answering
        /// Answered before the request was read to its end; the rest is read and dropped, so that a client that writes
        /// everything before it reads still gets the answer.
        case discarding
        case closed
    }

    enum Event {
        case part(HTTPServerRequestPart)
        case mistake(Problem)
        case inputEnded
    }

    let router: Router
    let listener: ListenerKind
    var phase = Phase.head
    /// The body of the request being read; not part of the phase, so that it grows without being copied.
    private var body: [UInt8] = []
    var backlog: [Event] = []
    private var isWorking = false
    private var hasBytes = false
    var isReadHeld = false
    var isInputEnded = false
    var deadline: Scheduled<Void>?
    var context: ChannelHandlerContext?

    init(router: Router, listener: ListenerKind) {
        self.router = router
        self.listener = listener
    }

    /// Notes that bytes have arrived.
    func bytesArrived() {
        hasBytes = true
        guard case .quiet = phase else { return }
        phase = .head
        expire(after: router.limits.requestTime)
    }

    /// Stops with the server: a client that awaits the rotation is answered that the daemon stops, one that sends a
    /// request or reads an answer may finish, an idle connection is closed.
    func stop() {
        switch phase {
        case .waiting(let head): answer(Reply(.stopping, known: []), to: head)
        case .head, .body, .answering: expire(after: router.limits.stopTime)
        case .quiet, .discarding, .closed: close()
        }
    }

    /// Sends the rotation's answer.
    func settle(_ reply: Reply) {
        guard case .waiting(let head) = phase else { return }
        answer(reply, to: head)
    }
}

// Receiving requests.
extension HTTPConnection {
    var isBusy: Bool {
        switch phase {
        case .waiting, .answering: true
        case .quiet, .head, .body, .discarding, .closed: !backlog.isEmpty
        }
    }

    func take(_ event: Event) {
        backlog.append(event)
        work()
    }

    /// Processes the backlog until an answer is pending; a loop, not a recursion, as it may hold many requests.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        var next = 0
        while next < backlog.count {
            if case .waiting = phase { break }
            if case .answering = phase { break }
            let event = backlog[next]
            next += 1
            process(event)
        }
        // If the connection was closed, the backlog is already empty.
        backlog.removeFirst(min(next, backlog.count))
        if isReadHeld, !isBusy, let context {
            isReadHeld = false
            context.read()
        }
    }

    private func process(_ event: Event) {
        switch (event, phase) {
        case (.part(.head(let head)), .quiet), (.part(.head(let head)), .head):
            begin(head)
        case (.part(.body(let bytes)), .body(let head)):
            guard body.count + bytes.readableBytes <= router.limits.bodySize else { return refuseBody(of: head) }
            body += bytes.readableBytesView
        case (.part(.end), .body(let head)):
            finish(head)
        case (.part(.end), .discarding), (.inputEnded, .quiet), (.inputEnded, .head), (.inputEnded, .discarding):
            close()
        case (.mistake(let problem), .quiet), (.mistake(let problem), .head):
            answer(Reply(problem), to: nil)
        case (.mistake(let problem), .body(let head)):
            answer(Reply(problem), to: head, closing: true)
        case (.mistake, .discarding):
            close()
        case (.inputEnded, _):
            isInputEnded = true
        default:
            break
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        phase = .body(head)
        body = []
        // RFC 9112, section 3.2: without Host, or with two, it is unclear what was asked for.
        if head.version == .http1_1, head.headers["host"].count != 1 {
            let problem = Problem(.badRequest, "an HTTP/1.1 request has one Host field, and this one does not")
            return answer(Reply(problem), to: head, closing: true)
        }
        if let length = head.headers["content-length"].first.flatMap({ Int($0) }), length > router.limits.bodySize {
            return refuseBody(of: head)
        }
        if head.headers["expect"].first?.lowercased() == "100-continue", let context {
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }
    }

    private func refuseBody(of head: HTTPRequestHead) {
        let problem = Problem(
            .payloadTooLarge, "the body is too large: at most \(router.limits.bodySize) bytes are read")
        answer(Reply(problem), to: head, discarding: true)
    }

    private func finish(_ head: HTTPRequestHead) {
        let received = Router.ReceivedRequest(
            method: head.method, target: head.uri, headers: head.headers, body: body, listener: listener)
        switch router.receive(received) {
        case .reply(let reply):
            answer(reply, to: head)
        case .ask(let request, let peer):
            // The rotation's answer has no deadline.
            deadline?.cancel()
            phase = .waiting(head)
            router.ask(request, of: peer, for: self)
        }
    }
}

// Sending answers, and deadlines.
extension HTTPConnection {
    /// Sends an answer; a nil `head` means that the request could not be read, and the connection is closed afterwards.
    func answer(_ reply: Reply, to head: HTTPRequestHead?, closing: Bool = false, discarding: Bool = false) {
        guard let context else { return }
        // After `Upgrade` and CONNECT the decoder parses nothing more as HTTP.
        let isLast =
            closing || discarding || isInputEnded || router.isStopping || head?.isKeepAlive != true
            || head?.method == .CONNECT || head?.headers.contains(name: "upgrade") == true
        var headers = reply.headers
        if isLast {
            headers.add(name: "connection", value: "close")
        } else if head?.version != .http1_1 {
            headers.add(name: "connection", value: "keep-alive")
        }
        phase = .answering
        router.move(self, to: .answer)
        expire(after: router.limits.answerTime)
        let response = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        if head?.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(reply.body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success: answered(isLast: isLast, discarding: discarding)
            case .failure: close()
            }
        }
    }

    private func answered(isLast: Bool, discarding: Bool) {
        guard case .answering = phase else { return }
        if discarding && !isInputEnded {
            phase = .discarding
            router.move(self, to: .request)
            expire(after: router.limits.requestTime)
        } else if isLast || router.isStopping {
            close()
        } else {
            phase = .quiet
            hasBytes = false
            router.move(self, to: .request)
            expire(after: router.limits.idleTime)
        }
        work()
    }

    func expire(after milliseconds: Int64) {
        deadline?.cancel()
        guard let context else { return }
        let time = router.isStopping ? min(milliseconds, router.limits.stopTime) : milliseconds
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(time)) { [weak self] in
            self?.expired()
        }
    }

    private func expired() {
        let problem = Problem(
            .requestTimeout, "the request was not sent whole within \(router.limits.requestTime / 1000) s")
        switch phase {
        case .head where hasBytes: answer(Reply(problem), to: nil)
        case .body(let head): answer(Reply(problem), to: head, closing: true)
        default: close()
        }
    }

    func close() {
        phase = .closed
        deadline?.cancel()
        context?.close(promise: nil)
    }

    /// Closes the connection, so that there is room for another one when this returns.
    func evict() {
        router.leave(self)
        close()
    }
}
