import NIOCore
import NIOHTTP1

extension HTTPConnection {
    /// What a connection's bytes pass through, from the socket on: this conversation is the last.
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

// What NIO tells of the connection.
extension HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        do {
            try router.enter(self)
            // Who connects has something to ask: the first request is not granted a kept connection's idle time.
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
            // With nothing before it, the answer that is being made is the last one and says so.
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
            // More bytes after what could not be read: the mistake was told already.
            break
        default:
            close()
        }
    }
}
