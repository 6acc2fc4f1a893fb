import Foundation
import TestSupport
import Testing

/// The kernel refuses one call of the way from the state directory to the outputs, or the daemon dies at it: at each
/// call in turn, from the first to the last.
@Suite(.needsRoot("looks into the daemon")) struct FaultInjectionTests {
    /// Each way that a disk has of saying no.
    private static let errors = ["error=EIO", "error=ENOSPC", "error=EDQUOT", "error=EMFILE", "error=EROFS"]
    /// An end without warning, instead of the call.
    private static let kill = "signal=SIGKILL"

    /// The outputs before: none at all, or secrets of a key that is no longer the client's.
    @Test(arguments: [false, true]) func noCallThatFailsLeavesAnythingHalfDone(hasOldSecrets: Bool) throws {
        var random = SeededGenerator()
        let seed = random.seed
        let bench = try FaultBench(hasOldSecrets: hasOldSecrets)
        let points = try bench.points()
        // Opening is most of what is done: each is refused in one way. What changes something is refused in all.
        let opening = points.filter { $0.call.hasPrefix("open") }
        let changing = points.filter { !$0.call.hasPrefix("open") }
        #expect(Set(changing.map(\.call)).isSuperset(of: ["write", "fsync", "fchmod", "fchown", "renameat2"]))
        #expect(opening.count >= 20)
        var trials = opening.flatMap { [($0, Self.kill), ($0, Self.errors[Int(random.next() % 5)])] }
        trials += changing.flatMap { point in (Self.errors + [Self.kill]).map { (point, $0) } }
            // Most refused writes are those of the threads to each other, see the bench; a full disk refuses the others.
            .filter { point, fault in point.call != "write" || fault == Self.kill || random.next() % 4 == 0 }
        var injected = 0
        for (point, fault) in trials {
            if try bench.attempt(point, fault, comment: "\(point.call) \(point.ordinal) \(fault), seed \(seed)") {
                injected += 1
            }
        }
        // Threads share their work differently each time, so that some do not come to their last call.
        #expect(injected * 10 >= trials.count * 8, "\(injected) of \(trials.count), seed \(seed)")
        try bench.verifySignatures(comment: "seed \(seed)")
    }

    /// The daemon lives on: what is wrong stands in its status, and is gone from it when the cause is gone.
    @Test func aLastingFaultIsToldAndForgotten() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let process = try #require(sandbox.processID)
        let output = sandbox.directory("out/web.jwt")
        for (call, error, words) in [
            ("fsync", "EIO", "the disk or file server fails (input/output error)"),
            ("fchmod", "EDQUOT", "quota"),
            ("openat2", "EMFILE", "too many files are open"),
            ("renameat2", "EROFS", "read-only"),
        ] {
            let old = try sandbox.text(output)
            let strace = try Attached(to: process, "inject=\(call):error=\(error)", in: sandbox)
            defer { strace.detach() }
            let answer = try sandbox.command("renew", "web")
            #expect(answer.status == 1, "\(call)")
            try sandbox.eventually("\(call)'s failure in status") {
                try sandbox.outputs(of: "web").contains { $0.state == "failed" && $0.error.contains(words) }
            }
            #expect(try sandbox.status()["state"] as? String != "ok")
            let during = try sandbox.text(output)
            // A directory that cannot be synced is found out after the name was taken.
            if call != "fsync" { #expect(during == old, "\(call)") }
            strace.detach()
            try sandbox.recovers(call)
            #expect(try sandbox.text(output) != old, "\(call)")
            #expect(sandbox.leftovers() == [], "\(call)")
        }
        #expect(sandbox.processID == process)
        #expect(sandbox.stop() == 0)
    }
}

/// strace on a daemon that runs already.
final class Attached {
    private let process = Process()

    init(to daemon: Int32, _ injection: String, in sandbox: Sandbox) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let call = String(injection.dropFirst("inject=".count).prefix { $0 != ":" })
        // Tests run on threads that block most signals, and what they start inherits that; strace lets go at SIGTERM.
        process.arguments = [
            "--default-signal", "strace", "-f", "-qq", "-o", "/dev/null", "-p", "\(daemon)", "-e", "trace=\(call)",
            "-e", injection,
        ]
        try process.run()
        try sandbox.eventually("strace on every thread") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/task").allSatisfy { thread in
                let status = try? sandbox.text("/proc/\(daemon)/task/\(thread)/status")
                return status.map { !$0.contains("TracerPid:\t0\n") } ?? true
            }
        }
    }

    /// Lets the daemon go on without it.
    func detach() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }
}
