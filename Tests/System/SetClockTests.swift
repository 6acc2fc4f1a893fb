import Foundation
import TestSupport
import Testing

/// The kernel itself wakes a daemon that sleeps for weeks when the clock is set.
@Suite struct SetClockTests {
    @Test(.needsRoot("sets the machine's clock, by a nanosecond"))
    func aClockThatIsSetIsActedUponThoughNothingElseHappens() throws {
        let sandbox = try Sandbox()
        let travel = try TimeTravel(sandbox, kernelSynchronised: true)
        let first = try sandbox.directory.read("out/web.jwt")
        // Longer than anything that a start leaves to be seen to: the daemon sleeps until its secret is due.
        var seen = 0
        var switches = try Self.switches(of: sandbox)
        while seen < 5 {
            Thread.sleep(forTimeInterval: 1)
            let now = try Self.switches(of: sandbox)
            seen = now == switches ? seen + 1 : 0
            switches = now
        }
        try travel.go(days: 61, telling: false)
        Thread.sleep(forTimeInterval: 1)
        #expect(try sandbox.directory.read("out/web.jwt") == first)
        let set = try run(["python3", repository + "/Tests/Faults/set-clock.py"])
        try #require(set.status == 0, "\(set.complaints)")
        try sandbox.eventually("a renewal") { try sandbox.directory.read("out/web.jwt") != first }
        let times = try travel.times(of: try sandbox.directory.read("out/web.jwt"))
        #expect(abs(Double(times.issuedAt + 60) - Date().timeIntervalSince1970 - 61 * 86_400) < 120)
    }

    /// How often the daemon's loop has gone to sleep.
    private static func switches(of sandbox: Sandbox) throws -> String? {
        try sandbox.text("/proc/\(try #require(sandbox.processID))/status").split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches:") }.map(String.init)
    }
}
