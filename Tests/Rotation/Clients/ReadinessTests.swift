import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// READY comes once every client was tried once; `--once` ends when nothing more can be done.
@Suite struct ReadinessTests {
    private func isReady(_ bench: Bench) -> Bool {
        bench.rotation.snapshot(at: bench.now).ready
    }

    @Test func readyWaitsForEveryFirstWrite() throws {
        let bench = try Bench(["a": Values.client("a"), "b": Values.client("b")])
        let file = Resource.file(try Values.path("b.jwt"))
        bench.held = [file]
        bench.go()
        #expect(!isReady(bench))
        bench.release(file)
        #expect(isReady(bench))
        #expect(bench.entries.filter { $0 == .ready }.count == 1)
        bench.ask(.renew(.init()))
        #expect(bench.entries.filter { $0 == .ready }.count == 1)
    }

    @Test func readyDoesNotWaitForActions() throws {
        let action = Values.exec("/bin/slow")
        let bench = try Bench(["a": Values.client("a", actions: [action])])
        bench.held = [.action(action.id)]
        bench.go()
        #expect(isReady(bench))
    }

    /// A shared file is good only once each of its clients has the secret that it holds: here `b` finds that out last,
    /// and `a` must become ready with it.
    @Test func clientsThatShareAFileAreReadyTogether() throws {
        let bench = try Bench([
            "a": Values.client("a", outputs: [Values.env("/srv/.env", "A")]),
            "b": Values.client("b", outputs: [Values.env("/srv/.env", "B"), Values.raw("b.jwt")]),
        ])
        let signer = try Values.print("1")
        let ofA = try Values.issued(1, id: "com.example.a", signer: signer)
        let older = try Values.issued(2, id: "com.example.b", to: 80 * Values.day, signer: signer)
        let newer = try Values.issued(3, id: "com.example.b", signer: signer)
        bench.records = [try Values.name("a"): Record(current: ofA), try Values.name("b"): Record(current: older)]
        bench.disk[try Values.path("/srv/.env")] = FileObservation(
            slots: [.variable("A"): .secret(ofA), .variable("B"): .secret(newer)])
        bench.disk[try Values.path("b.jwt")] = FileObservation(slots: [.whole: .secret(newer)])
        let last = Resource.file(try Values.path("b.jwt"))
        bench.held = [last]
        bench.go()
        #expect(!isReady(bench))
        bench.release(last)
        #expect(isReady(bench))
    }

    @Test func aFailureCountsAsTried() throws {
        let name = try Values.name("a")
        let path = try Values.path("a.jwt")
        for resource in [Resource.key(try Values.key()), .client(name), .record(name), .file(path)] {
            for outputs in [[try Values.raw("a.jwt")], []] {
                let bench = try Bench(["a": Values.client("a", outputs: outputs)])
                bench.failures = [resource: Failure(.ioError, at: .path(path))]
                bench.go()
                #expect(isReady(bench), "\(resource) \(outputs.count)")
            }
        }
    }

    @Test func readyWaitsForTheGoodOutputsOfAClientWithABadOne() throws {
        let minting = Resource.client(try Values.name("a"))
        let good = Resource.file(try Values.path("good.jwt"))
        let bench = try Bench([
            "a": Values.client("a", outputs: [Values.raw("bad.jwt"), Values.raw("good.jwt")])
        ])
        try bench.failWrites(of: "bad.jwt")
        // Both files are known by the time it is minted: only the write of the good one is held.
        bench.held = [minting]
        bench.go()
        bench.held.insert(good)
        bench.release(minting)
        #expect(bench.log.contains("publish bad.jwt"))
        #expect(!isReady(bench))
        bench.release(good)
        #expect(isReady(bench))
    }

    @Test func aClockThatIsNotTrustedKeepsNoStartWaiting() throws {
        let bench = try Bench(["a": Values.client("a")], builtAt: 1).started()
        #expect(isReady(bench))
        #expect(try bench.view("a").health == .critical)
    }

    @Test func onceEndsWhenEverythingIsDone() throws {
        let action = Values.exec("/bin/after")
        let bench = try Bench(["a": Values.client("a", actions: [action])], once: true)
        bench.held = [.action(action.id)]
        bench.go()
        // An action may take its time.
        bench.pass(300)
        #expect(!bench.lastStep.ended)
        bench.release(.action(action.id))
        #expect(bench.lastStep.ended)
        // The record has what was delivered before the end.
        #expect(bench.records[try Values.name("a")]?.delivered[action.id] != nil)
    }
}
