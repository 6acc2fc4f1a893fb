import Foundation
import Linux
import TestSupport
import Testing

struct HardeningTests {
    /// As for root's `check` after a disk that does not respond: that thread takes no part.
    @Test(.needs(.root)) func aThreadThatDoesNotRespondDelaysNoChangeOfTheUser() async {
        await #expect(processExitsWith: .success) {
            var begun: [Int32] = [0, 0]
            var end: [Int32] = [0, 0]
            try #require(unsafe pipe(&begun) == 0 && pipe(&end) == 0)
            let vfork = unsafe try #require(dlsym(nil, "vfork"))
            let divide = unsafe unsafeBitCast(vfork, to: (@convention(c) () -> Int32).self)
            let (ready, wait, last) = (begun[1], end[0], end[1])
            // The kernel lets it wait for its child and for no signal.
            try WorkerThread.start {
                guard divide() == 0 else { return }
                var byte: UInt8 = 0
                close(last)
                _ = unsafe write(ready, &byte, 1)
                _ = unsafe read(wait, &byte, 1)
                _exit(0)
            }
            var byte: UInt8 = 0
            #expect(unsafe read(begun[0], &byte, 1) == 1)
            alarm(120)
            try Hardening.become(try #require(try Accounts.user(named: "nobody")))
            #expect(geteuid() == getuid() && geteuid() != 0)
            close(last)
        }
    }

    /// That it comes before a key is read: `System.MemoryProtectionTests`.
    @Test func newPrivilegesAndCoreDumpsAreGivenUpForChildrenToo() async {
        await #expect(processExitsWith: .success) {
            func line(_ words: String...) throws -> String {
                let report = try ChildProcess.run(["/bin/grep"] + words, environment: [:], timeout: 600_000)
                return try #require(report.lines.first)
            }
            #expect(try line("NoNewPrivs", "/proc/self/status") == "NoNewPrivs:\t0")
            try Hardening.forbidNewPrivileges()
            try Hardening.forbidInspection()
            #expect(try line("NoNewPrivs", "/proc/self/status") == "NoNewPrivs:\t1")
            let limits = try line("core file", "/proc/self/limits").split(separator: " ")
            #expect(limits.prefix(6) == ["Max", "core", "file", "size", "0", "0"])
        }
    }
}
