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

    @Test func theNewestStatusTakesThePlaceOfAnOlderOne() {
        var notifyQueue = notifyQueue(.status("1 of 3"), .watchdog, .status("2 of 3"), .watchdog, .status("3 of 3"))
        #expect(sent(from: &notifyQueue) == [[.watchdog, .status("3 of 3")]])
    }

    /// Of several phases in one datagram systemd sees only the last.
    @Test func eachPhaseIsSentByItselfAndInOrder() {
        var notifyQueue = notifyQueue(.ready, .reloading(since: 5), .status("ok"), .ready, .stopping)
        #expect(
            sent(from: &notifyQueue) == [[.status("ok"), .ready], [.reloading(since: 5)], [.ready], [.stopping]])
    }

    @Test func moreTimeIsAskedForNoLongerOnceTheStartIsOver() {
        var notifyQueue = notifyQueue(.extendTimeout(milliseconds: 60_000), .extendTimeout(milliseconds: 60_000))
        #expect(notifyQueue.next == [.extendTimeout(milliseconds: 60_000)])
        notifyQueue.add([.status("ok"), .ready])
        #expect(sent(from: &notifyQueue) == [[.status("ok"), .ready]])
    }

    @Test func ofReloadsNotYetSentOnlyTheLastIsSent() {
        var all = notifyQueue(.ready, .reloading(since: 1), .ready, .reloading(since: 2), .ready, .reloading(since: 3))
        #expect(sent(from: &all) == [[.ready], [.reloading(since: 3)]])
        // A reload whose beginning was sent ends first.
        var begun = notifyQueue(.reloading(since: 1))
        begun.removeNext()
        begun.add([.ready, .reloading(since: 2), .ready, .reloading(since: 3), .ready])
        #expect(sent(from: &begun) == [[.ready], [.reloading(since: 3)], [.ready]])
    }

    /// Whatever is queued, and whenever there is room: phases arrive in an order that a service goes through, the last
    /// of them and the newest status arrive, and the queue stays short.
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
            heard += rest.joined()
            #expect(heard.last { if case .status = $0 { true } else { false } } == .status(status), replay)
            let phases = heard.compactMap { message -> Character? in
                switch message {
                case .ready: "y"
                case .reloading: "r"
                case .stopping: "s"
                default: nil
                }
            }
            #expect(String(phases).wholeMatch(of: /y(ry)*s/) != nil, "\(String(phases)) \(replay)")
            let reloads = heard.compactMap { if case .reloading(let since) = $0 { since } else { nil } }
            #expect(reloads == reloads.sorted(), replay)
        }
    }

    /// systemd ignores longer ones.
    @Test func noDatagramIsLongerThanAPage() {
        let start: [Notify.Message] = [.extendTimeout(milliseconds: .max / 1_000)]
        let reload: [Notify.Message] = [.reloading(since: .max)]
        let longest = Notify.Message.status(String(repeating: "\u{1F600}", count: 5_000))
        for phase in [start, reload] {
            var notifyQueue = notifyQueue(longest, .watchdog, .failed(errno: .max))
            notifyQueue.add(phase)
            let size = Notify.Message.text(of: notifyQueue.next).utf8.count
            #expect((3_800...4_096).contains(size), "\(size)")
        }
    }
}
