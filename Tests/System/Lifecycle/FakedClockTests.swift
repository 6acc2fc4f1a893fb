import Foundation
import TestSupport
import Testing

/// A running daemon is taken through the years: libfaketime answers when it asks what time it is.
@Suite(.waits, .needs(.tools)) struct FakedClockTests {
    /// Nobody wakes the daemon, whose clock does twenty days in a second: it renews by its own timers.
    @Test func itsOwnTimersTakeItThroughTwoYears() throws {
        let sandbox = try Sandbox()
        let travel = try TimeTravel(sandbox, kernelSynchronised: true, from: "+0d x\(20 * 86_400)", lifetime: "180d")
        var tokens = [try sandbox.published()]
        while tokens.count < 7 {
            try sandbox.eventually("renewal \(tokens.count)") { try sandbox.published() != tokens.last }
            let next = try sandbox.published()
            try #require(next != tokens.last)
            tokens.append(next)
        }
        let times = try tokens.map(travel.times)
        for (before, after) in zip(times, times.dropFirst()) {
            // Two thirds into its life, at most a twentieth of the last third earlier, and never after its end.
            #expect(after.issuedAt >= before.issuedAt + 117 * 86_400)
            #expect(after.issuedAt < before.expiresAt)
            #expect(after.expiresAt == after.issuedAt + 60 + 180 * 86_400)
        }
        #expect(times[6].issuedAt > times[0].issuedAt + 700 * 86_400)
        #expect(sandbox.stop() == 0)
    }

    /// The kernel itself wakes a daemon that sleeps for weeks when the clock is set.
    @Test(.needs(.root))
    func aClockThatIsSetIsActedUponThoughNothingElseHappens() throws {
        let sandbox = try Sandbox()
        let travel = try TimeTravel(sandbox, kernelSynchronised: true)
        let first = try sandbox.published()
        // The daemon sleeps until its secret is due, and looks at no clock before that (`nothingWakesBetweenEvents`). That
        // it still sleeps a moment after the jump cannot be asked for: on a busy machine something else may wake it.
        try sandbox.awaitRest(seconds: 5)
        try travel.go(days: 61, telling: false)
        try runToSuccess(["/usr/bin/python3", repository + "/Tests/Support/set-clock.py"])
        try sandbox.eventually("a renewal") { try sandbox.published() != first }
        let times = try travel.times(of: try sandbox.published())
        #expect(abs(Double(times.issuedAt + 60) - Date().timeIntervalSince1970 - 61 * 86_400) < 120)
    }

    @Test func aClockBeforeTheBuildMintsNothing() throws {
        let sandbox = try Sandbox()
        let travel = try TimeTravel(sandbox, kernelSynchronised: true)
        let token = try sandbox.published()
        try travel.go(days: -20 * 366)
        try sandbox.eventually("distrust") { try sandbox.status()["state"] as? String != "ok" }
        let reason = try #require(try sandbox.status()["reason"] as? String)
        #expect(reason.hasPrefix("the clock: shows a time before this program was built, so it is not trusted: "))
        #expect(reason.hasSuffix("set the clock, or see why it is not synchronised (timedatectl)"))
        #expect(try sandbox.published() == token)
        // Nor do commands that are asked by the same clock.
        let check = try travel.command("check")
        #expect(check.status == 1 && check.complaints.contains("before this program was built"), "\(check)")
        let mint = try travel.command("mint", "web")
        #expect(mint.status == 1 && mint.output.isEmpty, "\(mint)")
        let doctor = try travel.command("doctor", "--skip-verify", "web")
        #expect(doctor.status == 1 && doctor.output.hasPrefix("web: broken at clock"), "\(doctor)")
        try travel.go(days: 0)
        try sandbox.recovers("the clock was set right")
        #expect(try sandbox.published() == token)
        // Not even when it is asked for.
        try travel.go(days: -20 * 366)
        #expect(try sandbox.command("renew").status == 1)
        #expect(try sandbox.published() == token)
    }

    /// A clock that was set while nothing ran is doubted by everything that then looks at it first.
    @Test func aSingleRunReplacesNothingByAClockThatWasSetAhead() throws {
        let sandbox = try Sandbox()
        let travel = try TimeTravel(sandbox, kernelSynchronised: false)
        let token = try sandbox.published()
        #expect(sandbox.stop() == 0)
        try travel.go(days: 100, telling: false)
        let offline = try travel.command("health", "--offline")
        #expect(offline.status == 1 && offline.output.contains("may be ahead"), "\(offline)")
        let once = try travel.command("run", "--once")
        #expect(once.complaints.contains("may be ahead"), "\(once)")
        #expect(try sandbox.published() == token)
    }
}

/// A daemon with one client whose wall clock the test sets.
struct TimeTravel {
    private let sandbox: Sandbox
    /// Out of the daemon's sight, which would look whenever something happens in a directory that it watches.
    private let aside: TemporaryDirectory
    private let file: String
    /// What has a program see the time of this clock, and whether it is synchronised.
    private let tracing: [String]

    /// - Parameters:
    ///   - kernelSynchronised: what the kernel answers the daemon about its clock; the machine's own answer would be
    ///     another one on each.
    ///   - start: the time at the start, in libfaketime's words.
    init(
        _ sandbox: Sandbox, kernelSynchronised: Bool, from start: String = "+0d", lifetime: String = "90d"
    ) throws {
        self.sandbox = sandbox
        aside = try TemporaryDirectory()
        file = try aside.write(start, to: "time")
        try sandbox.configure(sandbox.client("web", lifetime: lifetime))
        let library = try Self.library()
        let environment = [
            "LD_PRELOAD=\(library)", "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            // Unset, the library would set it and so move the environment, behind which Swift looks for the arguments.
            "FAKETIME_SHARED=none none",
        ]
        let answer = kernelSynchronised ? "retval=0" : "error=EPERM"
        tracing =
            ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"] + environment.flatMap { ["-E", $0] }
            + ["-e", "trace=clock_adjtime", "-e", "inject=clock_adjtime:\(answer)"]
        try sandbox.start(under: tracing)
    }

    /// libfaketime's path.
    static func library() throws -> String {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
        return try #require(
            folders.map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }.first(where: FileManager.default.fileExists),
            "libfaketime is not installed")
    }

    /// Runs the program as one that asks this clock.
    func command(_ arguments: String...) throws -> Finished {
        try run(tracing + [sandbox.binary] + arguments, environment: sandbox.environment)
    }

    /// Sets the daemon's clock to so many days from now and, since no kernel tells it of this clock, has it look.
    func go(days: Int, telling: Bool = true) throws {
        try Data("\(days < 0 ? "" : "+")\(days)d".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        guard telling else { return }
        try sandbox.succeed("reload")
    }

    /// The claims of a token that the key has signed, whatever the time is.
    func times(of token: String) throws -> (issuedAt: Int, expiresAt: Int) {
        let claims = try sandbox.claims(of: token, timeless: true)
        return (try #require(claims["iat"] as? Int), try #require(claims["exp"] as? Int))
    }
}
