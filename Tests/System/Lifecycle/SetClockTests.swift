import Foundation
import TestSupport
import Testing

/// The kernel itself wakes a daemon that sleeps for weeks when the clock is set.
@Suite(.waits) struct SetClockTests {
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
}
