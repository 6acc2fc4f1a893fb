import Glibc
import NIOCore

/// Pauses a listening socket when a connection cannot be accepted because descriptors or memory are used up.
///
/// The waiting clients keep the socket readable, so NIO would retry at once and for ever. NIO's own `AcceptBackoffHandler` only
/// stops new reads from being requested, and a read that has failed still counts as requested.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// How long accepting is paused; a client that waits only gets its answer later.
    private static let pause = TimeAmount.seconds(1)
    private static let wants: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let cause = (error as? IOError)?.errnoCode, Self.wants.contains(cause) else {
            return context.fireErrorCaught(error)
        }
        let channel = context.channel
        // Both fail only on a closed socket.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        context.eventLoop.scheduleTask(in: Self.pause) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }
}
