import Glibc
import Linux
import Synchronization
import Testing

struct EventCounterTests {
    @Test func staysRaisedForEveryoneUntilItIsCleared() throws {
        let counter = try EventCounter()
        let here = try Epoll()
        let there = try Epoll()
        try here.add(counter.raw, tag: 1)
        try there.add(counter.raw, tag: 2)
        counter.signal()
        counter.signal()
        #expect(try here.wait().count == 1)
        #expect(try here.wait().count == 1)
        #expect(try there.wait().count == 1)
        #expect(counter.wait(atMost: 60_000))
        counter.clear()
        #expect(!isReadable(counter.raw))
        #expect(!counter.wait(atMost: 1))
    }

    @Test func inboxGivesEverythingOnceInTheOrderOfEachSender() throws {
        let inbox = try Inbox<[Int]>()
        #expect(!isReadable(inbox.raw))
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
        #expect(!isReadable(inbox.raw))
    }
}

func isReadable(_ descriptor: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waited, 1, 0) > 0
}
