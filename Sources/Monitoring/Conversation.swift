import Linux
import NIOCore
import NIOHTTP1
import Rotation

/// One connection: takes its requests one after the other and answers each before it looks at the next.
///
/// Reading stops while an answer is made and sent, so that a client that sends many requests at once costs one read
/// buffer. What is in that buffer waits in `backlog`.
final class Conversation: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Between two requests.
        case quiet
        /// The first bytes of a request's head may have come.
        case head
        case body(HTTPRequestHead, [UInt8])
        /// The rotation was asked.
        case waiting(HTTPRequestHead)
        /// The answer is on its way to the client.
        case answering
        /// Answered before the request was read to its end; the rest is passed over, so that a client that writes
        /// before it reads gets to see the answer.
        case discarding
        case closed
    }

    private enum Event {
        case part(HTTPServerRequestPart)
        case mistake(Problem)
        case inputEnded
    }

    private let desk: Desk
    private let peer: Peer
    private var phase = Phase.head
    private var backlog: [Event] = []
    private var isWorking = false
    private var hasBytes = false
    private var isReadHeld = false
    private var isInputEnded = false
    private var deadline: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    init(desk: Desk, peer: Peer) {
        self.desk = desk
        self.peer = peer
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        do {
            try desk.enter(self, of: peer.user)
            // Who connects has something to ask: the first request is not granted a kept connection's idle time.
            expire(after: desk.limits.requestTime)
        } catch {
            answer(Reply(error), to: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        backlog = []
        deadline?.cancel()
        self.context = nil
        desk.leave(self, of: peer.user)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(.part(unwrapInboundIn(data)))
    }

    func read(context: ChannelHandlerContext) {
        if isBusy {
            isReadHeld = true
        } else {
            context.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            // With nothing before it, the answer that is being made is the last one and says so.
            if backlog.isEmpty { isInputEnded = true }
            take(.inputEnded)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            let limits = desk.limits
            take(
                .mistake(
                    Problem(
                        .requestHeaderFieldsTooLarge,
                        "the request's head is too large: at most \(limits.headerSize) bytes and "
                            + "\(limits.headerFields) fields are read")))
        case HTTPParserError.invalidVersion:
            take(.mistake(Problem(.badRequest, "HTTP/1.1 and HTTP/1.0 are spoken here, and no other version")))
        case is HTTPParserError:
            take(.mistake(Problem(.badRequest, "this is not an HTTP/1.1 request")))
        case is ByteToMessageDecoderError:
            // More bytes after what could not be read: the mistake was told already.
            break
        default:
            close()
        }
    }

    /// Bytes have come.
    func stir() {
        hasBytes = true
        guard case .quiet = phase else { return }
        phase = .head
        expire(after: desk.limits.requestTime)
    }

    /// The server stops: a client that waits is told, the others are let go.
    func stop() {
        if case .waiting(let head) = phase {
            isInputEnded = true
            answer(Reply(.stopping, known: []), to: head)
        } else {
            close()
        }
    }

    /// The rotation's answer has come.
    func settle(_ reply: Reply) {
        guard case .waiting(let head) = phase else { return }
        answer(reply, to: head)
    }
}

// The way of a request.
extension Conversation {
    private var isBusy: Bool {
        switch phase {
        case .waiting, .answering: true
        case .quiet, .head, .body, .discarding, .closed: !backlog.isEmpty
        }
    }

    private func take(_ event: Event) {
        backlog.append(event)
        work()
    }

    /// Works the backlog off as far as it goes; a loop and not a recursion, however many requests lie in it.
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
        // The connection may have been closed, and the backlog with it.
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
        case (.part(.body(let bytes)), .body(let head, let body)):
            guard body.count + bytes.readableBytes <= desk.limits.bodySize else { return refuseBody(of: head) }
            phase = .body(head, body + bytes.readableBytesView)
        case (.part(.end), .body(let head, let body)):
            finish(head, body)
        case (.part(.end), .discarding), (.inputEnded, .quiet), (.inputEnded, .head), (.inputEnded, .discarding):
            close()
        case (.mistake(let problem), .quiet), (.mistake(let problem), .head):
            answer(Reply(problem), to: nil)
        case (.mistake(let problem), .body(let head, _)):
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
        phase = .body(head, [])
        // RFC 9112, section 3.2: without it, or with two, nobody can know what was asked for.
        if head.version == .http1_1, head.headers["host"].count != 1 {
            let problem = Problem(.badRequest, "an HTTP/1.1 request has one Host field, and this one does not")
            return answer(Reply(problem), to: head, closing: true)
        }
        if let length = head.headers["content-length"].first.flatMap({ Int($0) }), length > desk.limits.bodySize {
            return refuseBody(of: head)
        }
        if head.headers["expect"].first?.lowercased() == "100-continue", let context {
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }
    }

    private func refuseBody(of head: HTTPRequestHead) {
        let problem = Problem(.payloadTooLarge, "the body is too large: at most \(desk.limits.bodySize) bytes are read")
        answer(Reply(problem), to: head, discarding: true)
    }

    private func finish(_ head: HTTPRequestHead, _ body: [UInt8]) {
        let visit = Desk.Visit(method: head.method, target: head.uri, headers: head.headers, body: body, peer: peer)
        switch desk.receive(visit) {
        case .reply(let reply):
            answer(reply, to: head)
        case .ask(let request):
            // The outcome takes as long as it takes.
            deadline?.cancel()
            phase = .waiting(head)
            desk.ask(request, for: self)
        }
    }

    /// Sends an answer; with no `head` the request could not be read, and the connection ends with it.
    private func answer(_ reply: Reply, to head: HTTPRequestHead?, closing: Bool = false, discarding: Bool = false) {
        guard let context else { return }
        // After `Upgrade` and CONNECT the decoder takes nothing more for HTTP.
        let isLast =
            closing || discarding || isInputEnded || head?.isKeepAlive != true || head?.method == .CONNECT
            || head?.headers.contains(name: "upgrade") == true
        var headers = reply.headers
        if isLast {
            headers.add(name: "connection", value: "close")
        } else if head?.version != .http1_1 {
            headers.add(name: "connection", value: "keep-alive")
        }
        phase = .answering
        expire(after: desk.limits.answerTime)
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
            expire(after: desk.limits.requestTime)
        } else if isLast {
            close()
        } else {
            phase = .quiet
            hasBytes = false
            expire(after: desk.limits.idleTime)
        }
        work()
    }

    private func expire(after milliseconds: Int64) {
        deadline?.cancel()
        guard let context else { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
            self?.expired()
        }
    }

    private func expired() {
        let seconds = "\(Double(desk.limits.requestTime) / 1000) s"
        let problem = Problem(.requestTimeout, "the request was not sent whole within \(seconds)")
        switch phase {
        case .head where hasBytes: answer(Reply(problem), to: nil)
        case .body(let head, _): answer(Reply(problem), to: head, closing: true)
        default: close()
        }
    }

    private func close() {
        phase = .closed
        deadline?.cancel()
        context?.close(promise: nil)
    }
}
