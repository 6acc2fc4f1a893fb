import Foundation
import SystemPackage
import Testing

@testable import Linux

struct WorkerPoolTests {
    @Test func aStuckLaneHoldsUpNoOtherLane() throws {
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

    /// pthread_create(3) reports both by the same number.
    @Test func aThreadWithoutMemoryIsNoLimitOnThreads() {
        let error = #expect(throws: SystemError.self) { try WorkerThread.start(stackSize: 1 << 50) {} }
        #expect(error?.errno == .noMemory)
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

/// The scheduling rule alone.
struct WorkerCrewTests {
    /// Adds so many jobs; returns the threads that have to be started for them.
    private func fill(_ scheduler: inout WorkerScheduler<String>, _ lane: String, _ jobs: Int, at now: Int64) -> [Int] {
        var started: [Int] = []
        for _ in 0..<jobs { try? scheduler.add({}, to: lane, at: now, start: { started.append($0) }) }
        return started
    }

    /// Whether a job for which no thread can be started is refused.
    private func refuses(_ scheduler: inout WorkerScheduler<String>) -> Bool {
        do throws(SystemError) {
            let failing = { (_: Int) throws(SystemError) -> Void in
                throw SystemError("start a thread", errno: .wouldBlock)
            }
            try scheduler.add({}, to: "a", at: 0, start: failing)
            return false
        } catch {
            return true
        }
    }

    @Test func aJobIsRefusedOnlyWhereItsLaneHasNoThread() {
        var scheduler = WorkerScheduler<String>(limit: 4, perLane: 4)
        var refused = [refuses(&scheduler)]
        let threads = fill(&scheduler, "a", 1, at: 0)
        refused.append(refuses(&scheduler))
        #expect(refused == [true, false] && threads == [1])
        var lane = "a"
        let hasJob = (0..<3).map { _ in scheduler.nextJob(for: 1, in: &lane, at: 0) != nil }
        #expect(hasJob == [true, true, false])
        #expect(scheduler.threads == 0)
    }

    @Test func aLaneHasAThreadAtOnceHoweverManyWork() {
        var scheduler = WorkerScheduler<String>(limit: 4, perLane: 4)
        let counts = ["stuck", "other", "third"].map { fill(&scheduler, $0, 10, at: 0).count }
        #expect(counts == [4, 1, 1])
    }

    @Test func overdueThreadsDoNotCountExceptInTheirLane() {
        var scheduler = WorkerScheduler<String>(limit: 4, perLane: 8)
        var counts = [fill(&scheduler, "stuck", 4, at: 0).count]
        counts.append(fill(&scheduler, "other", 4, at: 30_000).count)
        counts.append(fill(&scheduler, "other", 4, at: 30_001).count)
        #expect(counts == [4, 1, 3])

        var roomy = WorkerScheduler<String>(limit: 8, perLane: 8)
        counts = [fill(&roomy, "stuck", 6, at: 0).count, fill(&roomy, "stuck", 4, at: 30_001).count]
        #expect(counts == [6, 2])
    }

    @Test func aFreeThreadGoesFirstToALaneWithoutThreads() {
        var scheduler = WorkerScheduler<String>(limit: 200, perLane: 200)
        let threads = fill(&scheduler, "crowd", 129, at: 0)
        #expect(threads == Array(1...128))
        let late = fill(&scheduler, "late", 1, at: 0)
        #expect(late.isEmpty)
        // 128 jobs are taken, one is left for the thread that comes back first; the next goes to the late lane.
        var visited: [String] = []
        for thread in threads + [1, 1] {
            var lane = "crowd"
            let job = scheduler.nextJob(for: thread, in: &lane, at: 0)
            visited.append(job == nil ? "nothing" : lane)
        }
        #expect(visited == Array(repeating: "crowd", count: 129) + ["late"])
    }
}
