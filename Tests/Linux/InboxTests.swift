import Linux
import Testing

struct InboxTests {
    @Test func inboxGivesEverythingOnceInTheOrderOfEachSender() throws {
        let inbox = try Inbox<[Int]>()
        #expect(!inbox.wait(atMost: 0))
        let pool = WorkerPool<Int>(limit: 4, perLane: 1)
        for sender in 0..<4 {
            try pool.run(in: sender) { for number in 0..<1_000 { inbox.post([sender, number]) } }
        }
        let epoll = try Epoll()
        try epoll.add(inbox.raw, tag: 0)
        var received: [[Int]] = []
        while received.count < 4_000 {
            _ = try epoll.wait()
            received += inbox.drain()
        }
        for sender in 0..<4 {
            #expect(received.filter { $0[0] == sender }.map { $0[1] } == Array(0..<1_000))
        }
        #expect(inbox.drain().isEmpty)
        #expect(!inbox.wait(atMost: 0))
    }
}
