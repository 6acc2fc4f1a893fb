import Glibc
import NIOCore

/// Leaves a listening socket alone for a while when there is no descriptor, or no memory, for who comes next.
///
/// They go on waiting, so that the socket stays readable and NIO would try again at once, for ever. NIO's own
/// `AcceptBackoffHandler` only keeps a read from being asked for, and one that has failed counts as still asked for.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// Until the socket is accepted from again; whoever waits longer for an answer than usual notices no more than that.
    private static let pause = TimeAmount.seconds(1)
    private static let wants: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let cause = (error as? IOError)?.errnoCode, Self.wants.contains(cause) else {
            return context.fireErrorCaught(error)
        }
        let channel = context.channel
        // Neither can fail but on a socket that is closed.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        context.eventLoop.scheduleTask(in: Self.pause) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }
}
