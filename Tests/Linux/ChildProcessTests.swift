import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Linux

struct ChildProcessTests {
    private let hooks: Hooks

    init() throws {
        hooks = try Hooks()
    }

    @Test func passesWordsAsTheyAreWithoutAShell() throws {
        let words = ["/usr/bin/printf", "%s|", "a b", "", "$HOME", "*", "ä'\"\\"]
        let report = try ChildProcess.run(words, environment: [:], timeout: Hooks.never)
        #expect(report.lines == ["a b||$HOME|*|ä'\"\\|"])
    }

    @Test func inheritsNothing() throws {
        // A descriptor without close-on-exec.
        let leak = unsafe open("/etc/passwd", O_RDONLY)
        defer { close(leak) }
        let report = try hooks.run(
            """
            pwd -P
            readlink /proc/$$/fd/0
            # The last is the directory that is listed.
            ls -m /proc/self/fd
            grep SigBlk /proc/self/status
            # Without the two signals that the C library keeps for itself.
            echo $(( 0x$(awk '/SigIgn/ { print $2 }' /proc/self/status) & ~0x180000000 ))
            # Of the fields after the name: process group and session.
            awk -v pid=$$ '{ sub(/.*[)] /, ""); print ($3 == pid), ($4 == pid) }' /proc/$$/stat
            cat
            """)
        #expect(
            report.lines == [
                "/", "/dev/null", "0, 1, 2, 3", "SigBlk:\t0000000000000000", "0", "1 1",
            ])
    }

    @Test func saysWhyItCouldNotBeStarted() throws {
        let plain = try hooks.directory.write("text", to: "plain", mode: 0o600)
        let noInterpreter = try hooks.directory.write("exit 0\n", to: "script", mode: 0o700)
        for (program, errno) in [
            (hooks.directory("nothing"), Errno.noSuchFileOrDirectory), (plain, .permissionDenied),
            (noInterpreter, Errno(rawValue: ENOEXEC)),
            (hooks.directory.path, .permissionDenied), ("sh", .invalidArgument), ("/bin/sh\0", .invalidArgument),
        ] {
            let error = #expect(throws: SystemError.self) {
                try ChildProcess.run([program], environment: [:], timeout: Hooks.never)
            }
            #expect(error?.errno == errno)
            #expect(error?.operation == "start \(program)")
        }
    }

    @Test func endsWhatIsNotDoneInTime() throws {
        let report = try hooks.run("echo $$ >$HERE/pids; exec sleep 600", timeout: 1_000)
        #expect(report.ending == .timedOut)
        #expect(try hooks.run("exec sleep 600", timeout: .min).ending == .timedOut)
        #expect(try hooks.run("exit 3", timeout: .max).ending == .exited(3))
        try hooks.expectGone(1)
    }

    @Test(arguments: ["trap '' TERM;", "exec >&- 2>&-;"]) func endsWhatDoesNotListen(step: String) throws {
        let report = try hooks.cancelOnceUp(
            "echo one; echo $$ >$HERE/pids; \(step) echo >$HERE/up; exec sleep 600")
        #expect(report == ExitReport(.cancelled, printed: ["one"]))
        try hooks.expectGone(1)
    }

    @Test func isNotHeldUpByAFlood() throws {
        let endless = try hooks.run("exec yes", timeout: 1_000)
        #expect(endless.ending == .timedOut)
    }

    @Test func isCancelledWithEveryOtherThatSharesTheCounter() throws {
        let cancel = try EventCounter()
        let pool = WorkerPool<Int>()
        let done = try Inbox<ExitReport.Ending?>()
        for number in 0..<3 {
            let fifo = hooks.directory("up\(number)")
            try Hooks.makeFIFO(fifo)
            try pool.run(in: number) {
                let report = try? ChildProcess.run(
                    ["/bin/sh", "-c", "echo up >\(fifo); exec sleep 600"], environment: [:], timeout: Hooks.never,
                    cancel: cancel)
                done.post(report?.ending)
            }
            try Hooks.waitFor(fifo)
        }
        cancel.signal()
        for _ in 0..<3 { #expect(try Hooks.next(of: done) == .cancelled) }
        #expect(try hooks.run("exec sleep 600", cancel: cancel).ending == .cancelled)
    }
}
