import NIOCore

/// Tells a conversation that bytes came, before the decoder has made anything of them: a request begins with its first
/// byte, and its deadline must not wait for the end of a head that never comes.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let conversation: Conversation

    init(_ conversation: Conversation) {
        self.conversation = conversation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        conversation.stir()
        context.fireChannelRead(data)
    }
}
