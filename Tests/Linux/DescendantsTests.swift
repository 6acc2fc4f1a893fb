import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Linux

/// Each test has a process of its own, in which nothing else starts or waits for children.
struct DescendantsTests {
    @Test func givesTimeToTidyUpAndKeepsOutputMeanwhile() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            let report = try hooks.cancelOnceUp(
                """
                (trap 'sleep 0.2; echo tidied; exit' TERM; echo >$HERE/ready; while :; do sleep 0.01; done) &
                read x <$HERE/ready; echo one; echo >$HERE/up; exec sleep 600
                """)
            // The shell may say "Terminated" in between.
            #expect(report.ending == .cancelled)
            #expect(report.lines.first == "one")
            #expect(report.lines.last == "tidied")
        }
    }

    /// Also those of a child that ends at SIGTERM, and of one that stops its supervisor.
    @Test(arguments: ["", "trap 'exit 0' TERM;", "kill -STOP $PPID;"])
    func endsDescendantsWhereverTheyWent(step: String) async {
        await #expect(processExitsWith: .success) { [step] in
            if step.contains("STOP") { try ChildProcess.adoptOrphans() }
            let hooks = try Hooks()
            let report = try hooks.cancelOnceUp(
                "\(escapee) echo $$ >>$HERE/pids; \(step) echo >$HERE/up; while :; do sleep 0.01; done")
            #expect(report.ending == .cancelled)
            try hooks.expectGone(2)
        }
    }

    /// Nothing that a process may change about itself hides whose descendant it is.
    @Test(arguments: [
        "ulimit -R 1000000",
        "ulimit -S -H -n 64; cd /; umask 777",
        "exec -a kworker /bin/sleep 600",
        "exec setpriv --reuid=34567 --regid=34567 --clear-groups /bin/sleep 600",
        "exec setpriv --pdeathsig=clear /bin/sleep 600",
    ])
    func endsWhatShedsWhatItInherited(step: String) async {
        await #expect(processExitsWith: .success) { [step] in
            let hooks = try Hooks()
            try hooks.directory.write(
                "trap '' TERM; echo $$ >>$HERE/pids; echo >$HERE/ready; \(step); exec sleep 600", to: "shed")
            let report = try hooks.cancelOnceUp(
                "setsid -f setsid -f bash $HERE/shed; read x <$HERE/ready; echo >$HERE/up; exec sleep 600")
            #expect(report.ending == .cancelled)
            try hooks.expectGone(1)
        }
    }

    @Test func endsWhatDoesNotShowItselfAndHoldsItsOwnOrphans() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            // Not dumpable, a subreaper itself, and with a child whose parent has ended.
            let program = """
                import ctypes, os, signal, time
                prctl = ctypes.CDLL(None).prctl
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                def hide(): assert prctl(4, 0, 0, 0, 0) == 0 and prctl(36, 1, 0, 0, 0) == 0
                def stay():
                    with open(os.environ["HERE"] + "/pids", "a") as pids: pids.write(f"{os.getpid()}\\n")
                    time.sleep(600)
                if os.fork() == 0:
                    os.setsid()
                    hide()
                    if os.fork() == 0:
                        os.setsid()
                        hide()
                        if os.fork() == 0: stay()
                        os._exit(0)
                    os.wait()
                    open(os.environ["HERE"] + "/ready", "w").write("x\\n")
                    stay()
                """
            try hooks.directory.write(program, to: "hide.py")
            let report = try hooks.cancelOnceUp(
                """
                /usr/bin/python3 $HERE/hide.py; read x <$HERE/ready
                while [ $(wc -l <$HERE/pids) -lt 2 ]; do sleep 0.01; done; echo >$HERE/up; exec sleep 600
                """)
            #expect(report.ending == .cancelled)
            try hooks.expectGone(2)
        }
    }

    @Test(.needs(.root)) func holdsNothingOfTheProcessThatStartedIt() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            let secret = "KEPT-IN-MEMORY-ALONE"
            unsafe setenv("CLIENTSECRETD_TEST", secret, 1)
            // What other tests, starting programs at the same moment, have let this process inherit is not its own.
            for descriptor in Int32(3)..<1024 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            // As root, which may read what is not dumpable. The supervisor closes its first three descriptors once the
            // program is executed, which may be a moment after the program's first steps.
            let report = try hooks.run(
                """
                for try in $(seq 1000); do [ -e /proc/$PPID/fd/2 ] || break; sleep 0.01; done
                tr '\\0' ' ' </proc/$PPID/cmdline; echo; tr '\\0' '\\n' </proc/$PPID/environ | grep -c CLIENTSECRETD
                ls /proc/$PPID/fd | tr '\\n' ' '; echo; awk '/^(Threads|NoNewPrivs)/ { print $2 }' /proc/$PPID/status
                """)
            #expect(report.lines.first?.hasPrefix("clientsecretd-supervisor /bin/sh -c ") == true)
            #expect(Array(report.lines.suffix(4)) == ["0", "3 4 5 ", "1", "0"])
        }
    }

    @Test func endsWhatKeepsForking() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
            // Each process starts the next in a new session and ends: none can be found twice.
            let next = "trap '' TERM; echo $$ >>$HERE/pids; sleep 0.01; setsid sh $HERE/next &"
            try hooks.directory.write(next, to: "next")
            let report = try hooks.cancelOnceUp("sh $HERE/next; echo >$HERE/up; exec sleep 600")
            #expect(report.ending == .cancelled)
            let pids = try hooks.pids()
            #expect(!pids.isEmpty)
            for pid in pids { #expect(hooks.hasGone(pid), "\(pid) lives on") }
        }
    }

    /// The supervisor is its own user's, so a program can kill it, and what is in another session is then nobody's.
    @Test func endsDescendantsOfAChildThatKillsItsSupervisor() async {
        await #expect(processExitsWith: .success) {
            try ChildProcess.adoptOrphans()
            let earlier = try Hooks()
            try Hooks.makeFIFO(earlier.directory("ready"))
            #expect(try earlier.run("\(escapee) echo done").ending == .exited(0))
            let hooks = try Hooks()
            try Hooks.makeFIFO(hooks.directory("ready"))
            let report = try hooks.run("\(escapee) echo $$ >>$HERE/pids; kill -KILL $PPID; exec sleep 600")
            #expect(report.ending == .signalled(SIGKILL))
            try hooks.expectGone(2)
            // Another supervisor holds what a child left running that ended by itself.
            let pid = try #require(try earlier.pids().first)
            #expect(!earlier.hasGone(pid))
            #expect(kill(pid, SIGKILL) == 0)
        }
    }

    @Test func endsNoDescendantsOfOtherProcesses() async {
        await #expect(processExitsWith: .success) {
            let hooks = try Hooks()
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
            #expect(spared == ExitReport(.exited(0), printed: ["survived"]))
        }
    }

    /// Also where it ignores SIGTERM. It goes on meanwhile: it may be the server that the hook was to restart.
    @Test(arguments: [0, SIGKILL])
    func endsWhatAChildLeftRunningWithTheProcessThatRanIt(signal: Int32) async throws {
        let hooks = try Hooks()
        try Hooks.makeFIFO(hooks.directory("ready"))
        await #expect(processExitsWith: signal == 0 ? .success : .signal(signal)) {
            [signal, directory = hooks.directory.path as String] in
            let script = "\(escapee) sleep 600 >/dev/null 2>&1 & echo $! >>$HERE/pids; echo done"
            let report = try ChildProcess.run(
                ["/bin/sh", "-c", script], environment: Hooks.path.merging(["HERE": directory]) { $1 },
                timeout: Hooks.never)
            #expect(report == ExitReport(.exited(0), printed: ["done"]))
            let text = try String(contentsOfFile: "\(directory)/pids", encoding: .utf8)
            for pid in text.split(separator: "\n").compactMap({ pid_t($0) }) { #expect(kill(pid, 0) == 0) }
            if signal != 0 { kill(getpid(), signal) }
        }
        while try hooks.pids().contains(where: { !hooks.hasGone($0) }) { try await Task.sleep(for: .milliseconds(10)) }
        try hooks.expectGone(2)
    }

    /// What is left running is its supervisor's user's, too. One that was stopped does not see this process end.
    @Test(arguments: ["KILL", "STOP"]) func endsWhatKillsOrStopsTheSupervisorThatHoldsIt(signal: String) async {
        await #expect(processExitsWith: .success) { [signal] in
            try ChildProcess.adoptOrphans()
            let hooks = try Hooks()
            for name in ["ready", "go"] { try Hooks.makeFIFO(hooks.directory(name)) }
            let report = try hooks.run(
                """
                (setsid sh -c 'echo $$ >>$HERE/pids; echo >$HERE/ready; read x <$HERE/go
                kill -\(signal) $(cut -d " " -f 4 /proc/$$/stat); exec sleep 600' >/dev/null 2>&1 &); read x <$HERE/ready
                """)
            #expect(report.ending == .exited(0))
            let go = Descriptor(adopting: unsafe open(hooks.directory("go"), O_WRONLY))
            #expect(unsafe write(go.raw, "\n", 1) == 1)
            let pid = try #require(try hooks.pids().first)
            while kill(pid, 0) == 0 {
                if signal == "STOP" {
                    ChildProcess.endStoppedBackgroundProcesses(within: Hooks.never)
                } else {
                    ChildProcess.reapOrphans()
                }
                usleep(1_000)
            }
        }
    }

    /// Nothing tells of its end once more.
    @Test func endsWhatASupervisorHeldThatIsKilledOnceItHasReported() async {
        await #expect(processExitsWith: .success) {
            try ChildProcess.adoptOrphans()
            let hooks = try Hooks()
            try Hooks.makeFIFO(hooks.directory("ready"))
            var child = try SupervisedChild(
                ["/bin/sh", "-c", "\(escapee) echo $PPID >$HERE/holder"], environment: hooks.environment)
            let interruption = child.wait(milliseconds: Hooks.never, cancel: -1)
            let holder = try #require(
                pid_t(hooks.directory.read("holder").trimmingCharacters(in: .whitespacesAndNewlines)))
            try #require(kill(holder, SIGKILL) == 0)
            try #require(waitid(P_PID, id_t(holder), nil, WEXITED | WNOWAIT) == 0)
            let ending = try child.end(after: interruption)
            #expect(ending == .exited(0))
            try hooks.expectGone(1)
        }
    }

    @Test func leavesWhatIsReleasedRunning() async throws {
        let hooks = try Hooks()
        try Hooks.makeFIFO(hooks.directory("ready"))
        await #expect(processExitsWith: .success) { [directory = hooks.directory.path as String] in
            let report = try ChildProcess.run(
                ["/bin/sh", "-c", escapee], environment: Hooks.path.merging(["HERE": directory]) { $1 },
                timeout: Hooks.never)
            #expect(report.ending == .exited(0))
            ChildProcess.releaseBackgroundProcesses()
        }
        // Its supervisor ends, and it does not.
        let pid = try #require(try hooks.pids().first)
        while try supervises(pid) { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(pid, 0) == 0)
        #expect(kill(pid, SIGKILL) == 0)
    }

    /// Whether a process's parent is a supervisor.
    private func supervises(_ pid: pid_t) throws -> Bool {
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
        let parent = try? String(contentsOfFile: "/proc/\(fields[1])/cmdline", encoding: .utf8)
        return parent?.hasPrefix("clientsecretd-supervisor") == true
    }

    @Test func orphansAreReapedAndWaitedChildrenAreNot() async {
        await #expect(processExitsWith: .success) {
            // Becomes the reaper of orphans, like PID 1.
            guard let prctl = unsafe dlsym(nil, "prctl") else { throw POSIXError(.ENOSYS) }
            let control = unsafe unsafeBitCast(
                prctl, to: (@convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32).self)
            let setChildSubreaper: Int32 = 36
            try #require(control(setChildSubreaper, 1, 0, 0, 0) == 0)
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
                // As often as possible, while children start and end.
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

/// A descendant in a session of its own, without parents or environment, that ignores SIGTERM.
private let escapee = """
    (setsid env -i /bin/sh -c \
    'trap "" TERM; echo $$ >>'$HERE/pids'; echo >'$HERE/ready'; exec sleep 600' &); read x <$HERE/ready;
    """
