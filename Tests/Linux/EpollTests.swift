import SystemPackage
import Testing

@testable import Linux

struct EpollTests {
    @Test func reportsReadyDescriptorsByTheirTags() throws {
        let epoll = try Epoll()
        let first = try EventCounter()
        let second = try EventCounter()
        let quiet = try EventCounter()
        try epoll.add(first.raw, tag: 1)
        try epoll.add(second.raw, tag: .max)
        try epoll.add(quiet.raw, tag: 3)
        first.signal()
        second.signal()
        let events = try epoll.wait()
        #expect(Set(events.map(\.tag)) == [1, .max])
        #expect(events.allSatisfy { $0.readiness == .readable })

        try epoll.remove(first.raw)
        #expect(try epoll.wait().map(\.tag) == [.max])
        try epoll.modify(second.raw, tag: 9, for: .writable)
        #expect(try epoll.wait() == [.init(tag: 9, readiness: .writable)])
    }

    @Test func reportsMoreThanABatchInTheNextCall() throws {
        let epoll = try Epoll()
        let counters = try (0..<50).map { _ in try EventCounter() }
        for (index, counter) in counters.enumerated() {
            try epoll.add(counter.raw, tag: UInt64(index))
            counter.signal()
        }
        var seen = Set<UInt64>()
        while seen.count < counters.count {
            for event in try epoll.wait() {
                #expect(seen.insert(event.tag).inserted)
                counters[Int(event.tag)].clear()
            }
        }
    }

    @Test func saysWhatCannotBeWaitedFor() throws {
        let epoll = try Epoll()
        let error = #expect(throws: SystemError.self) { try epoll.add(-1, tag: 0) }
        #expect(error?.errno == .badFileDescriptor)
        #expect(error?.description == "cannot wait for a descriptor: Bad file descriptor")
    }
}
