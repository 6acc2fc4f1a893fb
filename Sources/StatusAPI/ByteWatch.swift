import NIOCore

/// Tells a conversation that bytes came, before the decoder has made anything of them: a request begins with its first
/// byte, and its deadline must not wait for the end of a head that never comes.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.debounce()
        context.fireChannelRead(data)
    }
}
