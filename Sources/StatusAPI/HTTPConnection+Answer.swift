import NIOCore
import NIOHTTP1

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

    func answered(isLast: Bool, discarding: Bool) {
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

    func expired() {
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

    /// Closes to make room for another connection; the room is free when this returns.
    func giveWay() {
        router.leave(self)
        close()
    }
}
