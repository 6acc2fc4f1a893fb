import NIOCore
import NIOHTTP1

extension HTTPConnection {
    /// The handlers that a connection's bytes pass through, from the socket on; this object is the last.
    func handlers() -> [any ChannelHandler] {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = router.limits.headerSize
        limits.maxHeaderListSize = router.limits.headerSize
        limits.maxHeaderFieldCount = router.limits.headerFields
        return [
            ByteWatch(self), HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)), self,
        ]
    }
}

// NIO's events.
extension HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        do {
            try router.enter(self)
            // A client connects to ask something: the first request gets `requestTime`, not the longer `idleTime`.
            expire(after: router.limits.requestTime)
        } catch {
            answer(Reply(error), to: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        backlog = []
        deadline?.cancel()
        self.context = nil
        router.leave(self)
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
            // With an empty backlog the answer being made is the last one, and announces that the connection closes.
            if backlog.isEmpty { isInputEnded = true }
            take(.inputEnded)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            let limits = router.limits
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
            // More bytes after an unreadable request, whose mistake was reported already.
            break
        default:
            close()
        }
    }
}

/// Reports incoming bytes to the HTTP connection before the decoder parses them: a request's deadline starts with its
/// first byte, because the end of its head may never come.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.bytesArrived()
        context.fireChannelRead(data)
    }
}
