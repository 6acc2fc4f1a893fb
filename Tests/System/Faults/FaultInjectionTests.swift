import Foundation
import TestSupport
import Testing

/// The kernel refuses one call of the way from the state directory to the outputs, or the daemon dies at it: at each
/// call in turn, from the first to the last.
@Suite(.waits, .needs(.root, .tools, .night)) struct FaultInjectionTests {
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

    /// One daemon, and for every call of a renewal and every way of refusing it a client that meets just that.
    @Test func everyFaultIsReportedByADaemonThatOutlivesIt() throws {
        let sandbox = try Sandbox()
        let supervisor = try Supervisor(sandbox)
        let field = FaultFixture(sandbox, supervisor)
        let faults = try field.everyFault()
        #expect(faults.count > 60)
        try field.start(clients: faults.count)
        let old = try field.tokens()
        try supervisor.give(faults.enumerated().map { field.rule($1.point, $1.fault, client: $0) })
        let answer = try sandbox.command("renew")
        #expect(answer.status == 1)
        let told = try field.whatIsReportedUntilAllIsOK()
        let hit = try supervisor.calls().hit
        for (client, (point, fault)) in faults.enumerated() {
            let comment: Comment = "\(point.call) \(point.nth) \(fault)"
            #expect(hit[client], comment)
            // A failed read before a write that succeeded, or an old file that had to be removed twice, need not be
            // reported.
            let mayPass = point.call.hasPrefix("open") || point.call == "unlinkat"
            let hasPassed = answer.output.contains("client-\(client): renewed ")
            let isTold = told[client]?.contains(fault.words) == true
            #expect(isTold || mayPass && hasPassed, "\(comment): \(told[client] ?? "nothing told")")
        }
        #expect(told.count > faults.count / 2)
        let new = try field.tokens()
        #expect(Set(new).isDisjoint(with: old))
        #expect(try sandbox.signers(of: new, among: [sandbox.key]).count == faults.count)
        try field.stop()
        #expect(try sandbox.command("run", "--once").status == 0)
        try sandbox.expectNoLeftovers()
    }
}
