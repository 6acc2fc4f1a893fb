import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Linux

/// Each in a process of its own: one that adopts orphans has to wait for all of them, and the test runner does not.
struct DescendantsTests {
    @Test func givesTimeToTidyUpAndKeepsWhatIsSaidMeanwhile() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            let report = try hooks.cancelOnceUp(
                """
                (trap 'sleep 0.2; echo tidied; exit' TERM; echo >$HERE/ready; while :; do sleep 0.01; done) &
                read x <$HERE/ready; echo one; echo >$HERE/up; exec sleep 600
                """)
            // The shell says "Terminated" in between, or not, as it comes.
            #expect(report.ending == .cancelled)
            #expect(report.lines.first == "one")
            #expect(report.lines.last == "tidied")
        }
    }

    @Test func endsDescendantsWhereverTheyWent() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            let report = try hooks.cancelOnceUp("\(escapee) echo $$ >>$HERE/pids; echo >$HERE/up; exec sleep 600")
            #expect(report.ending == .cancelled)
            try hooks.expectGone(2)
        }
    }

    @Test func endsDescendantsOfAChildThatEndsAtTERM() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            let report = try hooks.cancelOnceUp(
                "\(escapee) echo $$ >>$HERE/pids; trap 'exit 0' TERM; echo >$HERE/up; while :; do sleep 0.01; done")
            #expect(report.ending == .cancelled)
            try hooks.expectGone(2)
        }
    }

    @Test func endsWhatKeepsForking() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            // Each starts the next in a session of its own and ends: there is nobody to be found twice.
            let next = "trap '' TERM; echo $$ >>$HERE/pids; sleep 0.01; setsid sh $HERE/next &"
            try hooks.directory.write(next, to: "next")
            let report = try hooks.cancelOnceUp("sh $HERE/next; echo >$HERE/up; exec sleep 600")
            #expect(report.ending == .cancelled)
            let pids = try hooks.pids()
            #expect(!pids.isEmpty)
            for pid in pids { #expect(hooks.hasGone(pid), "\(pid) lives on") }
        }
    }

    @Test func endsNobodyElsesDescendants() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            let others = try Hooks()
            for name in ["up", "go", "end"] { try Hooks.makeFIFO(others.directory(name)) }
            let script = """
                (setsid sh -c 'read x <$HERE/go; echo survived; echo >$HERE/end' &)
                echo >$HERE/up; read x <$HERE/end
                """
            let pool = WorkerPool<Int>()
            let other = try Inbox<ExitReport?>()
            try pool.run(in: 0) { other.post(try? others.run(script)) }
            try Hooks.waitFor(others.directory("up"))

            let report = try hooks.cancelOnceUp("\(escapee) echo $$ >>$HERE/pids; echo >$HERE/up; exec sleep 600")
            #expect(report.ending == .cancelled)
            try hooks.expectGone(2)

            let go = Descriptor(adopting: unsafe open(others.directory("go"), O_WRONLY))
            #expect(unsafe write(go.raw, "\n", 1) == 1)
            let spared = try Hooks.next(of: other)
            #expect(spared == ExitReport(ending: .exited(0), lines: ["survived"], truncated: 0))
        }
    }

    @Test func isNotHeldUpByAGrandchildThatHoldsTheOutput() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            try Hardening.becomeSubreaper()
            try Hooks.makeFIFO(hooks.directory("ready"))
            let report = try hooks.run("\(escapee) echo done")
            #expect(report == ExitReport(ending: .exited(0), lines: ["done"], truncated: 0))
            // Left alone: it may be the server that the hook was to restart.
            let pid = try #require(try hooks.pids().first)
            #expect(kill(pid, SIGKILL) == 0)
            #expect(waitpid(pid, nil, 0) == pid)
        }
    }

    @Test func orphansAreReapedAndWaitedChildrenAreNot() async {
        await #expect(processExitsWith: .success) {
            try Hardening.becomeSubreaper()
            let pool = WorkerPool<Int>(limit: 8, perLane: 6)
            let done = try Inbox<ExitReport.Ending?>()
            let codes = 0..<Int32(60)
            for code in codes {
                try pool.run(in: 0) {
                    // Each leaves an orphan behind that ends a little later.
                    let arguments = ["/bin/sh", "-c", "(sleep 0.01 >/dev/null 2>&1 &); exit \(code)"]
                    let report = try? ChildProcess.run(arguments, environment: Hooks.path, timeout: Hooks.never)
                    done.post(report?.ending)
                }
            }
            var endings: [ExitReport.Ending?] = []
            while endings.count < codes.count {
                // As often as can be, while they are started and end.
                ChildProcess.reapOrphans()
                endings += done.drain()
            }
            for code in codes { #expect(endings.contains(.exited(code))) }
            // Until no child is left, dead or alive.
            while waitid(P_ALL, 0, nil, WEXITED | WNOWAIT) == 0 { ChildProcess.reapOrphans() }
            #expect(errno == ECHILD)
        }
    }
}

/// A descendant in a session of its own, its parents gone, its environment cleared, deaf to SIGTERM.
private let escapee = """
    (setsid env -i /bin/sh -c \
    'trap "" TERM; echo $$ >>'$HERE/pids'; echo >'$HERE/ready'; exec sleep 600' &); read x <$HERE/ready;
    """
