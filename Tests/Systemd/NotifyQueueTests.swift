import TestSupport
import Testing

@testable import Systemd

/// What is kept for the service manager while it does not read.
@Suite struct NotifyQueueTests {
    private func notifyQueue(_ messages: Notify.Message...) -> NotifyQueue {
        var notifyQueue = NotifyQueue()
        notifyQueue.add(messages)
        return notifyQueue
    }

    /// Everything that is sent once there is room.
    private func sent(from notifyQueue: inout NotifyQueue) -> [[Notify.Message]] {
        var sent: [[Notify.Message]] = []
        while !notifyQueue.isEmpty {
            sent.append(notifyQueue.next)
            notifyQueue.removeNext()
        }
        return sent
    }

    /// `y` for ready, `r` for reloading and `s` for stopping.
    private func phases(of messages: [Notify.Message]) -> String {
        String(
            messages.compactMap { message -> Character? in
                switch message {
                case .ready: "y"
                case .reloading: "r"
                case .stopping: "s"
                default: nil
                }
            })
    }

    /// Whatever is queued, and whenever there is room: phases arrive one by one, because of several in one datagram systemd sees
    /// only the last, and in an order that a service goes through. The last of them and the newest status arrive, and the queue
    /// stays short.
    @Test func aReaderNowAndThenHearsHowThingsStand() {
        var random = SeededGenerator()
        let replay: Comment = "CLIENTSECRETD_SEED=\(random.seed)"
        for _ in 0..<500 {
            var notifyQueue = NotifyQueue()
            var heard: [Notify.Message] = []
            var (status, isReloading, time) = ("0", false, Int64(0))
            notifyQueue.add([.status(status), .ready])
            for step in 1...Int.random(in: 1...40, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    status = "\(step)"
                    notifyQueue.add([.status(status)])
                case 1:
                    time = Int64(step)
                    notifyQueue.add([isReloading ? .ready : .reloading(since: time)])
                    isReloading.toggle()
                default: notifyQueue.add([.watchdog])
                }
                if Int.random(in: 0..<8, using: &random) == 0, !notifyQueue.isEmpty {
                    heard += notifyQueue.next
                    notifyQueue.removeNext()
                }
            }
            if isReloading { notifyQueue.add([.ready]) }
            notifyQueue.add([.stopping])
            let rest = sent(from: &notifyQueue)
            #expect(rest.count <= 4, replay)
            #expect(rest.allSatisfy { phases(of: $0).count <= 1 && $0.count <= 3 }, replay)
            heard += rest.joined()
            #expect(heard.last { if case .status = $0 { true } else { false } } == .status(status), replay)
            #expect(phases(of: heard).wholeMatch(of: /y(ry)*s/) != nil, "\(phases(of: heard)) \(replay)")
            let reloads = heard.compactMap { if case .reloading(let since) = $0 { since } else { nil } }
            #expect(reloads == reloads.sorted(), replay)
        }
    }

    /// systemd ignores longer ones.
    @Test func noDatagramIsLongerThanAPage() {
        let longest = Notify.Message.status(String(repeating: "\u{1F600}", count: 5_000))
        let notifyQueue = notifyQueue(longest, .watchdog, .failed(errno: .max), .reloading(since: .max))
        let size = Notify.Message.text(of: notifyQueue.next).utf8.count
        #expect((3_800...4_096).contains(size), "\(size)")
    }
}
