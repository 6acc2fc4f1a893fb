import AppleClientSecret
import Failures
import Foundation
import Linux
import Synchronization
import TestSupport
import Testing

@testable import Actions
@testable import Model

/// Programs that are run for clients: what they are given, what is logged of what they print, and when they have failed.
@Suite struct ExecActionTests {
    private final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        var lines: [String] { all.withLock { $0 } }

        func add(_ line: String) {
            all.withLock { $0.append(line) }
        }
    }

    private let scratch: TemporaryDirectory
    private let cancel: EventCounter
    private let printed = Lines()

    init() throws {
        scratch = try TemporaryDirectory()
        cancel = try EventCounter()
    }

    private func shell(_ script: String, timeout: Seconds = 60) -> Action {
        .exec(arguments: ["/bin/sh", "-c", script], timeout: timeout)
    }

    /// Runs it; each line it printed is in capitals, as the redaction of this test has it.
    private func run(_ action: Action, _ covering: [ClientName: CoveredClient] = [:]) throws(Failure) {
        let runner = ActionRunner(
            as: .current(), cancel: cancel,
            redact: { lines, _ in lines.map { $0 == "drop" ? nil : $0.uppercased() } },
            output: { [printed] id, line in printed.add("\(id): \(line)") })
        try runner.run(action, covering)
    }

    /// The executor has that done by what pushes: an action that nothing ran must not count as done.
    @Test func anActionThatNothingRunsFails() {
        let failure = failure(of: .redeploy(project: "shop", targets: []))
        #expect(failure?.code == .actionNotStarted)
        #expect(failure?.place == .action(ActionID("redeploy shop")))
    }

    private func failure(of action: Action) -> Failure? {
        do throws(Failure) {
            try run(action)
            return nil
        } catch {
            return error
        }
    }

    private func covered(_ outputs: [String]) throws -> CoveredClient {
        CoveredClient(issued: .sample(), outputs: try outputs.map { try #require(AbsolutePath($0)) })
    }

    @Test func itsEnvironmentIsWhatItIsRunForAndNothingElse() throws {
        unsafe setenv("LEFT_OVER", "1", 1)
        let clients = [
            try #require(ClientName("web")): try covered(["/run/web.jwt", "/run/b.jwt"]),
            try #require(ClientName("ios")): try covered(["/run/ios.jwt"]),
        ]
        let kept = scratch("environment")
        try run(shell("tr '\\0' '\\n' </proc/$$/environ >'\(kept)'"), clients)
        #expect(
            try scratch.read("environment").split(separator: "\n").sorted() == [
                "/run/b.jwt", "/run/web.jwt", "CLIENTSECRETD_CLIENT=ios", "CLIENTSECRETD_CLIENT_ID=com.example.web",
                "CLIENTSECRETD_OUTPUTS=/run/ios.jwt", "LANG=C.UTF-8",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "com.example.web", "web",
            ])
    }

    private func many() throws -> [ClientName: CoveredClient] {
        try (0..<3000).reduce(into: [:]) { all, number in
            let name = "client-of-the-tests-\(number)"
            all[try #require(ClientName(name))] = try covered(["/run/clientsecretd/out/\(name).jwt"])
        }
    }

    /// The names and paths of thousands would not fit into one environment, and the program could not be started.
    @Test func forManyClientsItRunsSeveralTimes() throws {
        let clients = try many()
        let kept = scratch("runs")
        try run(
            shell("printf '%s\\n%s\\n.\\n' \"$CLIENTSECRETD_CLIENT\" \"$CLIENTSECRETD_OUTPUTS\" >>'\(kept)'"), clients)
        let runs = try scratch.read("runs").split(separator: ".\n").map { $0.split(separator: "\n") }
        #expect((2...5).contains(runs.count), "\(runs.count) runs")
        for run in runs {
            let names = run.prefix(run.count / 2)
            #expect(run.suffix(run.count / 2) == names.map { "/run/clientsecretd/out/\($0).jwt" }[...])
        }
        #expect(runs.flatMap { $0.prefix($0.count / 2) }.map(String.init) == clients.keys.sorted().map(\.description))
    }

    /// What they cover is delivered again as a whole.
    @Test func oneOfSeveralRunsThatFailsIsAFailure() throws {
        let clients = try many()
        let action = shell("echo run; case $CLIENTSECRETD_CLIENT in *-2999*) exit 3 ;; esac")
        #expect(throws: Failure(.actionFailed, at: .action(action.id), detail: "exit status 3")) {
            try run(action, clients)
        }
        #expect(printed.lines.count > 1)
    }

    @Test func onlyWhatIsRedactedIsLogged() throws {
        let action = shell("echo one; echo drop; echo two >&2")
        try run(action)
        #expect(printed.lines == ["\(action.id): ONE", "\(action.id): TWO"])
    }

    @Test func ofAFloodTheFirstAndTheLastHundredLinesAreLogged() throws {
        let action = shell("seq 100000")
        try run(action)
        let shown = (1...100).map(String.init) + ["(99800 lines omitted)"] + (99_901...100_000).map(String.init)
        #expect(printed.lines == shown.map { "\(action.id): \($0)" })
    }

    @Test func outputIsLoggedEscapedAndUpTo64KiB() throws {
        let action = shell(#"printf '\033[2Jcleared\a\n'"#)
        try run(action)
        #expect(printed.lines == ["\(action.id): \\x1b[2JCLEARED\\x07"])
        // Escaped, a byte takes four.
        let long = shell(#"for line in $(seq 60); do head -c 999 /dev/zero | tr '\0' '\1'; echo; done"#)
        try run(long)
        let shown = printed.lines.dropFirst().map { $0.dropFirst("\(long.id): ".count) }
        #expect(shown.reduce(0) { $0 + $1.utf8.count } <= 65_536)
        #expect(shown.count == 17)
        #expect(shown[8 + shown.startIndex] == "(44 lines omitted)")
    }

    @Test func anythingButZeroIsAFailure() throws {
        for (script, detail) in [("exit 3", "exit status 3"), ("kill -9 $$", "signal 9")] {
            let action = shell(script)
            #expect(failure(of: action) == Failure(.actionFailed, at: .action(action.id), detail: detail))
        }
        let slow = shell("sleep 600", timeout: 1)
        #expect(failure(of: slow) == Failure(.actionTimedOut, at: .action(slow.id), detail: "1 s"))
    }

    @Test func aCommandThatTheDaemonsEndCutsOffIsInterrupted() throws {
        cancel.signal()
        let action = shell("sleep 600")
        #expect(failure(of: action) == Failure(.actionInterrupted, at: .action(action.id)))
    }

    /// Whoever can replace the program would gain the daemon's rights.
    @Test func aProgramThatOthersMayReplaceIsNotRun() throws {
        try scratch.write("#!/bin/sh\necho ran\n", to: "hook", mode: 0o777)
        let action = Action.exec(arguments: [scratch("hook")], timeout: 60)
        #expect(failure(of: action)?.code == .actionNotStarted)
        #expect(ExecAction.problem(with: action, as: .current()) == failure(of: action))
        #expect(printed.lines == [])
        let missing = Action.exec(arguments: [scratch("none")], timeout: 60)
        #expect(failure(of: missing)?.detail == "there is no \(scratch("none"))")
    }
    /// Each is what runs in place of the script, or what a shell is given to run.
    @Test(arguments: [
        ("writable", "#!SCRATCH/writable\n"), ("in a writable directory", "#!SCRATCH/open/guarded\n"),
        ("its interpreter's", "#!SCRATCH/script\n"), ("found by env", "#!/usr/bin/env SCRATCH/writable\n"),
        ("of env with options", "#!/usr/bin/env -S -i A=1 SCRATCH/writable -x\n"),
    ])
    func aScriptWhoseInterpreterOthersMayReplaceIsNotRun(what: String, line: String) throws {
        try scratch.write("#!/bin/sh\necho ran\n", to: "writable", mode: 0o777)
        try scratch.folder("open")
        try scratch.write("#!/bin/sh\necho ran\n", to: "open/guarded", mode: 0o755)
        try scratch.permit(0o777, "open")
        try scratch.write("#!\(scratch("writable"))\n", to: "script", mode: 0o755)
        try scratch.write(line.replacing("SCRATCH", with: scratch.path), to: "hook", mode: 0o755)
        let action = Action.exec(arguments: [scratch("hook")], timeout: 60)
        let found = try #require(failure(of: action), "\(what)")
        #expect(found.code == .actionNotStarted && found.detail?.contains("is writable by") == true, "\(found)")
        #expect(ExecAction.problem(with: action, as: .current()) == found)
        #expect(printed.lines == [])
        try scratch.write("#!/usr/bin/env sh\ntrue\n", to: "hook", mode: 0o755)
        #expect(failure(of: action) == nil)
    }

    @Test func anArgumentThatOthersMayChangeIsNamed() throws {
        try scratch.write("echo ran\n", to: "open.sh", mode: 0o666)
        try scratch.write("echo ran\n", to: "guarded.sh", mode: 0o644)
        let paths = [scratch("open.sh"), scratch("guarded.sh"), scratch("none"), scratch.path, "/dev/null", "-x", ""]
        let action = Action.exec(arguments: ["/bin/sh"] + paths, timeout: 60)
        #expect(ExecAction.unguardedArguments(of: action, as: .current()) == [scratch("open.sh")])
    }
}
