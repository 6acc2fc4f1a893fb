import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Clients that share an action or a file and are due at about the same time renew together.
@Suite struct RenewalBatchesTests {
    /// What is minted when the secret of `a`, which is this many days older than the others', is due.
    private func minted(_ clients: [String: ClientConfiguration], days: Int64) throws -> [String] {
        let bench = try Bench(clients)
        let old = try Values.issued(
            1, id: "com.example.a", from: -60 - days * Values.day, to: (90 - days) * Values.day,
            signer: Values.print("1"))
        try bench.place(old, in: "a.jwt")
        bench.go()
        bench.pass((60 - days) * Values.day - 1)
        bench.forget()
        bench.pass(1)
        return bench.log.filter { $0.hasPrefix("mint") }
    }

    @Test func alsoByWayOfOthersWithWhomTheyShare() throws {
        let (first, second, third) = (Values.exec("/bin/1"), Values.exec("/bin/2"), Values.exec("/bin/3"))
        let clients = [
            "a": try Values.client("a", actions: [first]), "b": try Values.client("b", actions: [first, second]),
            "c": try Values.client("c", actions: [second, third]), "d": try Values.client("d", actions: [third]),
            "e": try Values.client("e"),
        ]
        #expect(try minted(clients, days: 1) == ["mint a", "mint b", "mint c", "mint d"])
        // `c`, which is not near its own due time, joins no batch and links no other client to it.
        var apart = clients
        apart["c"] = try Values.client("c", renewBefore: 20 * Values.day, actions: [second, third])
        #expect(try minted(apart, days: 1) == ["mint a", "mint b"])
    }

    /// Its new secret is there already, so that nothing is gained by an early one of another client.
    @Test func aClientThatWaitsForApplesVerdictMakesNoOtherClientDue() throws {
        let action = Values.exec("/bin/after")
        var clients = ["a": try Values.client("a", actions: [action]), "b": try Values.client("b", actions: [action])]
        clients["a"]?.verify = true
        let bench = try Bench(clients)
        let old = try Values.issued(
            1, id: "com.example.a", from: -60 - 2 * Values.day, to: 88 * Values.day, signer: Values.print("1"))
        try bench.place(old, in: "a.jwt")
        bench.go()
        let name = try Values.name("a")
        bench.verdicts[name] = .failure(Failure(.verdictUnknown, at: .client(name)))
        bench.pass(59 * Values.day + Values.day / 2)
        #expect(bench.log.filter { $0.hasPrefix("mint") } == ["mint b", "mint a"])
        bench.pass(Values.day / 2)
        #expect(bench.log.filter { $0.hasPrefix("mint") } == ["mint b", "mint a", "mint b"])
    }

    /// Before it is due, each client asks whether a client connected to it by sharing is. Computing that anew for each
    /// of them takes too long.
    @Test(.timeLimit(.minutes(5))) func aThousandDoAtTheMomentAtWhichTheyAreDue() throws {
        let action = Values.exec("/bin/after")
        var clients: [String: ClientConfiguration] = [:]
        for number in 1...1000 { clients["c\(number)"] = try Values.client("c\(number)", actions: [action]) }
        let bench = try Bench(clients).settled()
        bench.pass(59 * Values.day)
        #expect(bench.mintReasons == [])
        bench.pass(Values.day)
        #expect(bench.log.filter { $0.hasPrefix("mint") }.count == 1000)
        #expect(bench.log.filter { $0.hasPrefix("run") }.count == 1)
    }
}
