import NIOCore
import NIOHTTP1

extension HTTPConnection {
    /// The handlers that a connection's bytes pass through, from the socket on; this object is the last.
    func handlers() -> [any ChannelHandler] { [HTTPResponseEncoder(), self] }
}

// NIO's events.
extension HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = HTTPServerResponsePart

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        do {
            try router.enter(self)
            // A client connects to ask something: the first request gets `requestTime`, not the longer `idleTime`.
            expire(after: router.limits.requestTime)
        } catch {
            answer(HTTPResponse(error), to: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        deadline?.cancel()
        self.context = nil
        router.leave(self)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        receive(&bytes)
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
            isInputEnded = true
            work()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close()
    }
}
