import Foundation
import Linux
import TestSupport
import Testing

struct HardeningTests {
    @Test(.needs(.root)) func othersOfTheSameUserSeeNothing() async {
        await #expect(processExitsWith: .success) {
            let hardened = try ForkedProcess(asUser: 34_567)
            let script = """
                exec 2>/dev/null
                for file in environ maps mem; do cat /proc/\(hardened.process)/$file | head -c 1 | wc -c; done
                """
            let program = ["setpriv", "--reuid=34567", "--regid=34567", "--clear-groups", "sh", "-c", script]
            // Whether the memory itself can be read before depends on the machine's Yama.
            #expect(try run(program).output.hasPrefix("1\n1\n"))
            try hardened.harden()
            #expect(try run(program).output == "0\n0\n0\n")
            let limits = try run(["grep", "core file", "/proc/\(hardened.process)/limits"]).output
            #expect(limits.split(separator: " ").prefix(6) == ["Max", "core", "file", "size", "0", "0"])
        }
    }

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

    @Test func newPrivilegesAreGivenUpForChildrenToo() async {
        await #expect(processExitsWith: .success) {
            let program = ["/bin/grep", "NoNewPrivs", "/proc/self/status"]
            let before = try ChildProcess.run(program, environment: [:], timeout: 600_000)
            #expect(before.lines == ["NoNewPrivs:\t0"])
            try Hardening.forbidNewPrivileges()
            let after = try ChildProcess.run(program, environment: [:], timeout: 600_000)
            #expect(after.lines == ["NoNewPrivs:\t1"])
        }
    }
}

/// A copy of this process with one thread, which runs as another user and obeys orders. The kernel judges a process by
/// its first thread, and the runner's has ended by the time a test runs.
private struct ForkedProcess {
    let process: Int32
    private let orders: Int32
    private let answers: Int32

    init(asUser user: UInt32) throws {
        var orders: [Int32] = [0, 0]
        var answers: [Int32] = [0, 0]
        try #require(unsafe pipe(&orders) == 0 && pipe(&answers) == 0)
        guard let fork = unsafe dlsym(nil, "fork"), let prctl = unsafe dlsym(nil, "prctl") else {
            throw POSIXError(.ENOSYS)
        }
        let makeCopy = unsafe unsafeBitCast(fork, to: (@convention(c) () -> Int32).self)
        let control = unsafe unsafeBitCast(prctl, to: (@convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32).self)
        process = makeCopy()
        if process == 0 {
            // The pipe of orders closes with the process that sends them.
            close(orders[1])
            let setDumpable: Int32 = 4
            // Changing the user clears the dumpable flag, which `harden` is to do.
            guard setgid(user) == 0, setuid(user) == 0, control(setDumpable, 1, 0, 0, 0) == 0 else { _exit(1) }
            var byte: UInt8 = 0
            while unsafe write(answers[1], &byte, 1) == 1, unsafe read(orders[0], &byte, 1) == 1 {
                do { try Hardening.forbidInspection() } catch { _exit(2) }
            }
            _exit(0)
        }
        close(orders[0])
        close(answers[1])
        self.orders = orders[1]
        self.answers = answers[0]
        try waitForAnswer()
    }

    func harden() throws {
        try #require(unsafe write(orders, "\n", 1) == 1)
        try waitForAnswer()
    }

    private func waitForAnswer() throws {
        var byte: UInt8 = 0
        try #require(unsafe read(answers, &byte, 1) == 1)
    }
}
