import Foundation
import Linux
import Synchronization
import Testing

struct WorkerPoolTests {
    @Test func aStuckLaneHoldsUpNobodyElse() throws {
        let pool = WorkerPool<String>(limit: 2, perLane: 2)
        let release = DispatchSemaphore(value: 0)
        let done = try Inbox<String>()
        for _ in 0..<4 {
            try pool.run(in: "stuck") {
                release.wait()
                done.post("stuck")
            }
        }
        for lane in 0..<20 {
            for _ in 0..<50 { try pool.run(in: "lane \(lane)") { done.post("lane") } }
        }
        #expect(collect(1_000, from: done).allSatisfy { $0 == "lane" })
        for _ in 0..<4 { release.signal() }
        #expect(collect(4, from: done) == Array(repeating: "stuck", count: 4))
    }

    @Test func oneThreadKeepsALanesOrder() throws {
        let pool = WorkerPool<Int>(limit: 8, perLane: 1)
        let done = try Inbox<Int>()
        for number in 0..<500 { try pool.run(in: 0) { done.post(number) } }
        #expect(collect(500, from: done) == Array(0..<500))
    }

    @Test func aLaneWorksInParallelUpToItsShare() throws {
        let pool = WorkerPool<Int>(limit: 8, perLane: 3)
        let done = try Inbox<Int>()
        let meeting = Mutex((here: 0, most: 0))
        let together = DispatchSemaphore(value: 0)
        for _ in 0..<12 {
            try pool.run(in: 0) {
                let here = meeting.withLock { meeting in
                    meeting.here += 1
                    meeting.most = max(meeting.most, meeting.here)
                    return meeting.here
                }
                // Groups of three: none goes on until the third is there.
                if here == 3 { for _ in 0..<3 { together.signal() } }
                together.wait()
                meeting.withLock { $0.here -= 1 }
                done.post(0)
            }
        }
        // A group may mix with the one before; jobs that are left over are released.
        for _ in 0..<12 { together.signal() }
        #expect(collect(12, from: done).count == 12)
        #expect(meeting.withLock { $0.most } <= 3)
    }

    @Test func signalsAreBlockedOnItsThreads() throws {
        let pool = WorkerPool<Int>()
        let done = try Inbox<String>()
        // Whatever signals the calling thread blocks.
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try pool.run(in: 0) {
            done.post((try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? "")
        }
        let blocked = try #require(collect(1, from: done)[0].split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
        let mask = try #require(UInt64(blocked.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16))
        for signal in [SIGHUP, SIGINT, SIGTERM, SIGCHLD] { #expect(mask & (1 << UInt64(signal - 1)) != 0) }
    }

    private func collect<Element>(_ count: Int, from inbox: Inbox<Element>) -> [Element] {
        var taken: [Element] = []
        do {
            let epoll = try Epoll()
            try epoll.add(inbox.raw, tag: 0)
            while taken.count < count {
                _ = try epoll.wait()
                taken += inbox.drain()
            }
        } catch {
            Issue.record(error)
        }
        return taken
    }
}
