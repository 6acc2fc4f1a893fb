import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// What the metrics count.
@Suite struct ClientCountsTests {
    private let after = Values.exec("/bin/after")

    private func bench() throws -> Bench {
        try Bench(["a": Values.client("a", actions: [after]), "b": Values.client("b")])
    }

    @Test func everyAttemptIsCountedByItsResult() throws {
        let bench = try bench().started()
        var view = try bench.view("a")
        #expect(view.counts.mints == Tally(successes: 1))
        #expect(view.counts.publishes == Tally(successes: 1))
        #expect(view.counts.deliveries == Tally(successes: 1))
        bench.failures = [
            .client(try Values.name("a")): Failure(.signingFailed, at: .key(try Values.key())),
            .action(after.id): Failure(.actionFailed, at: .action(after.id)),
        ]
        try bench.failWrites(of: "a.jwt")
        try bench.renew("a")
        #expect(try bench.view("a").counts.mints == Tally(successes: 1, failures: 1))
        bench.failures[.client(try Values.name("a"))] = nil
        bench.pass(1)
        #expect(try bench.view("a").counts.mints == Tally(successes: 2, failures: 1))
        #expect(try bench.view("a").counts.publishes == Tally(successes: 1, failures: 1))
        bench.failingWrites = [:]
        bench.pass(1)
        view = try bench.view("a")
        #expect(view.counts.publishes == Tally(successes: 2, failures: 1))
        #expect(view.counts.deliveries == Tally(successes: 1, failures: 1))
        #expect(try bench.view("b").counts.mints == Tally(successes: 1))
        #expect(try bench.view("b").counts.deliveries == Tally())
    }

    @Test func aWriteOfTwoVariablesOfOneClientIsOne() throws {
        let outputs = [try Values.env("app.env", "A"), try Values.env("app.env", "B")]
        let bench = try Bench(["a": Values.client("a", outputs: outputs)]).started()
        #expect(try bench.view("a").counts.publishes == Tally(successes: 1))
    }

    @Test func repairsAreCountedAndRenewalsAreNone() throws {
        let bench = try bench().started()
        bench.ask(.renew(.init()))
        #expect(try bench.view("a").outputs.map(\.repairs) == [0])
        for _ in 0..<2 {
            bench.disk[try Values.path("a.jwt")] = nil
            try bench.debounce("a.jwt")
        }
        #expect(try bench.view("a").outputs.map(\.repairs) == [2])
        #expect(try bench.view("b").outputs.map(\.repairs) == [0])
    }

    @Test func theLastSuccessIsWhenEverythingWasDone() throws {
        let bench = try bench()
        bench.failures = [.action(after.id): Failure(.actionFailed, at: .action(after.id))]
        bench.go()
        #expect(try bench.view("a").publishedAt == Values.moment(0))
        #expect(try bench.view("a").lastSuccessAt == nil)
        bench.failures = [:]
        bench.pass(30)
        let done = try #require(try bench.view("a").lastSuccessAt)
        #expect(done > Values.moment(0) && done <= Values.moment(30))
        bench.pass(3600)
        bench.ask(.reload)
        // Finding everything unchanged is no success.
        #expect(try bench.view("a").lastSuccessAt == done)
        bench.ask(.renew(.init()), 2)
        #expect(try bench.view("a").lastSuccessAt == bench.now.wall)
        #expect(try bench.view("a").publishedAt == bench.now.wall)
    }

    @Test func anOutputFoundInOrderAfterAStartIsASuccess() throws {
        let configuration = try Values.configuration(["a": Values.client("a", actions: [after])])
        let bench = try Bench(configuration).started()
        bench.pass(3600)
        try bench.restart(configuration)
        #expect(try bench.view("a").lastSuccessAt == bench.now.wall)
        #expect(try bench.view("a").publishedAt == nil)
        #expect(try bench.view("a").counts == ClientCounts())
    }
}
