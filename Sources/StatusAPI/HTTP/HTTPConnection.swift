import Model
import NIOCore
import NIOHTTP1

/// One HTTP connection: answers each request before it processes the next.
///
/// It does not read from the socket while it prepares and sends an answer. So a client that sends many requests at once costs one
/// read buffer, in which they wait. They are answered in turns of ``HTTPLimits/turnTime``, because one thread serves all
/// connections.
final class HTTPConnection {
    enum Phase {
        /// Between two requests.
        case quiet
        /// The first bytes of a request's head may have come.
        case head
        case body(RequestHead)
        /// Waits for the rotation's answer.
        case waiting(RequestHead)
        /// The answer is being sent.
        case answering
        /// Sent its last answer, and the end of it. Later bytes are read and dropped until the client closes its side. Closing on
        /// them would reset the connection, or fail the client's write, before the client has read the answer.
        case discarding
        case closed
    }

    let router: Router
    let listener: ListenerKind
    var phase = Phase.head
    var parser: RequestParser
    /// The body of the request being read; not part of the phase, so that it grows without being copied.
    private var body: [UInt8] = []
    private var isWorking = false
    /// Whether requests wait until other connections have had their turn.
    private var awaitsTurn = false
    var isReadHeld = false
    var isInputEnded = false
    var deadline: Scheduled<Void>?
    var context: ChannelHandlerContext?

    init(router: Router, listener: ListenerKind) {
        self.router = router
        self.listener = listener
        parser = RequestParser(limits: router.limits)
    }

    /// Stops with the server. A client that awaits the rotation gets the answer that the daemon stops. One that sends a request
    /// or reads an answer may finish, and an idle connection is closed.
    func stop() {
        switch phase {
        case .waiting(let head): answer(HTTPResponse(.stopping, known: []), to: head)
        case .quiet where awaitsTurn, .head, .body, .answering: expire(after: router.limits.stopTime)
        case .quiet, .discarding, .closed: close()
        }
    }

    /// Sends the rotation's answer.
    func settle(_ response: HTTPResponse) {
        guard case .waiting(let head) = phase else { return }
        answer(response, to: head)
    }
}

// Receiving requests.
extension HTTPConnection {
    /// Whether an answer is being prepared or sent, or other connections have their turn.
    var isBusy: Bool {
        switch phase {
        case .waiting, .answering: true
        case .quiet, .head, .body, .discarding, .closed: awaitsTurn
        }
    }

    /// Takes bytes that have arrived.
    func receive(_ bytes: inout ByteBuffer) {
        if case .discarding = phase { return }
        parser.append(&bytes)
        work()
    }

    /// Processes the bytes that have arrived until an answer is pending or the turn is over. It is a loop, not a recursion, because
    /// that may be many requests.
    func work() {
        guard !isWorking, let eventLoop = context?.eventLoop else { return }
        isWorking = true
        defer { isWorking = false }
        let end = eventLoop.now + .milliseconds(router.limits.turnTime)
        while !isBusy, process() {
            if case .quiet = phase, parser.hasBytes, eventLoop.now >= end {
                awaitsTurn = true
                router.queue(self)
            }
        }
        if isReadHeld, !isBusy, let context {
            isReadHeld = false
            context.read()
        }
    }

    /// Goes on with the requests that waited for this turn.
    func takeTurn() {
        awaitsTurn = false
        work()
    }

    /// Processes the next part of a request; returns whether there may be another one.
    private func process() -> Bool {
        switch phase {
        case .closed: return false
        case .discarding:
            if isInputEnded { close() }
            return false
        case .quiet, .head, .body, .waiting, .answering: break
        }
        if case .quiet = phase, parser.hasBytes {
            // A request's deadline starts with its first byte, because the end of its head may never come.
            phase = .head
            expire(after: router.limits.requestTime)
        }
        do {
            let part = try parser.next()
            switch (part, phase) {
            case (.head(let head), _): begin(head)
            case (.body(let bytes), .body): body += bytes.readableBytesView
            case (.end, .body(let head)): finish(head)
            default: break
            }
            if case .body(let head) = phase, parser.bodyLength > router.limits.bodySize { refuseBody(of: head) }
            if part == nil, isInputEnded { endOfInput() }
            return part != nil
        } catch {
            refuse(error)
            return true
        }
    }

    /// Answers an unreadable request, after which this connection can answer nothing.
    private func refuse(_ problem: Problem) {
        switch phase {
        case .quiet, .head: answer(HTTPResponse(problem), to: nil)
        case .body(let head): answer(HTTPResponse(problem), to: head, closing: true)
        case .waiting, .answering, .discarding, .closed: close()
        }
    }

    /// The client sends nothing more, and all that it sent was processed.
    private func endOfInput() {
        switch phase {
        case .head where parser.isPartial, .body: refuse(.strange)
        case .quiet, .head, .discarding: close()
        case .waiting, .answering, .closed: break
        }
    }

    private func begin(_ head: RequestHead) {
        phase = .body(head)
        body = []
        if head.awaitsContinue, parser.bodyLength <= router.limits.bodySize, let context {
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }
    }

    private func refuseBody(of head: RequestHead) {
        let problem = Problem(
            .payloadTooLarge, "the body is too large: at most \(router.limits.bodySize) bytes are read")
        answer(HTTPResponse(problem), to: head, closing: true)
    }

    private func finish(_ head: RequestHead) {
        let received = Router.ReceivedRequest(head: head, body: body, listener: listener)
        switch router.receive(received) {
        case .response(let response):
            answer(response, to: head)
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
    func answer(_ response: HTTPResponse, to head: RequestHead?, closing: Bool = false) {
        guard let context else { return }
        let isLast =
            closing || isInputEnded && !parser.hasBytes || router.isStopping || head?.isKeptAlive != true
        var headers = response.headers
        headers.add(name: "date", value: HTTPDate.now)
        if isLast {
            headers.add(name: "connection", value: "close")
        } else if head?.line.isVersion10 == true {
            headers.add(name: "connection", value: "keep-alive")
        }
        phase = .answering
        router.move(self, to: .answer)
        expire(after: router.limits.answerTime)
        let responseHead = HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
        context.write(wrapOutboundOut(.head(responseHead)), promise: nil)
        if head?.line.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success: answered(isLast: isLast)
            case .failure: close()
            }
        }
    }

    private func answered(isLast: Bool) {
        guard case .answering = phase else { return }
        if router.isStopping || isLast && isInputEnded {
            close()
        } else if isLast {
            phase = .discarding
            router.dismiss(self)
            expire(after: router.limits.requestTime)
            context?.close(mode: .output, promise: nil)
        } else {
            phase = .quiet
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
        case .head where parser.isPartial: answer(HTTPResponse(problem), to: nil)
        case .body(let head): answer(HTTPResponse(problem), to: head, closing: true)
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
