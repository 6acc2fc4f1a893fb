import Foundation
import TestSupport
import Testing

/// The kernel refuses one call of the way from the state directory to the outputs, or the daemon dies at it: at each
/// call in turn, from the first to the last.
@Suite(.waits, .needs(.root, .venv, .tools, .night)) struct FaultInjectionTests {
    /// Every call that changes something meets every fault, each time that it is made. Every path that is opened meets
    /// every fault, and each time that it is opened one of them.
    ///
    /// The outputs before: none at all, or secrets of a key that is no longer the client's.
    @Test(arguments: [false, true]) func noCallThatFailsLeavesAnythingHalfDone(hasOldSecrets: Bool) throws {
        var random = SeededGenerator()
        let seed = random.seed
        let bench = try FaultRunFixture(hasOldSecrets: hasOldSecrets)
        let calls = try bench.calls()
        let changing = calls.filter { !$0.name.hasPrefix("open") }
        #expect(Set(changing.map(\.name)).isSuperset(of: ["write", "fsync", "fchmod", "fchown", "renameat2"]))
        var trials: [Supervisor.Rule] = []
        var rare: Set<FaultPoint> = []
        for call in calls {
            let turn = Int(random.next() % 6)
            for number in 0..<max(call.most, Fault.allCases.count) {
                let isChanging = !call.name.hasPrefix("open")
                let point = FaultPoint(call: call.name, path: call.path, nth: number % call.most + 1)
                if point.nth > call.least { rare.insert(point) }
                let fault = Fault.allCases[(number + turn) % Fault.allCases.count]
                let faults = isChanging ? (number < call.most ? Fault.allCases : []) : [fault]
                // A disk that says no may say so once or from then on.
                trials += faults.map { Supervisor.Rule(point: point, fault: $0, lasts: random.next() % 2 == 0) }
            }
        }
        #expect(trials.count > 200)
        var missed: [Supervisor.Rule] = []
        for rule in trials {
            let point = rule.point
            let comment: Comment = "\(point.call) \(point.path) \(point.nth) \(rule.fault), seed \(seed)"
            // What two threads do at one time is not always done as often.
            var tries = rare.contains(point) ? 1 : 3
            while try tries > 0 && !bench.attempt(rule, comment: comment) { tries -= 1 }
            if tries == 0, !rare.contains(point) { missed.append(rule) }
        }
        #expect(missed.count * 50 < trials.count, "\(missed), seed \(seed)")
        #expect(rare.count * 5 < Set(trials.map(\.point)).count, "\(rare), seed \(seed)")
        try bench.verifySignatures(comment: "seed \(seed)")
    }
}
