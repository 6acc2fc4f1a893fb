import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Which secrets a changed configuration replaces, and which clients renew together.
@Suite struct RenewalDecisionTests {
    private let web = "web"

    private func settled(_ entry: ClientConfiguration? = nil) throws -> Bench {
        try Bench([web: try entry ?? Values.client(web)]).settled()
    }

    @Test(arguments: ["client id", "team id", "key id"])
    func changedIDsReplaceTheSecret(which: String) throws {
        let bench = try settled()
        let entry = try Values.client(web, id: which == "client id" ? "com.example.other" : nil)
        let key = try Values.keyEntry(
            team: which == "team id" ? "XYZ123GHIJ" : "DEF123GHIJ",
            keyID: which == "key id" ? "XYZ123DEFG" : "ABC123DEFG")
        bench.reload(try Values.configuration([web: entry], keys: ["apple": key]))
        #expect(bench.written == ["web.jwt"])
        let current = try #require(try bench.current(web))
        #expect(try bench.held(in: "web.jwt") == current)
        #expect(current.client == entry.clientID)
        #expect(current.team == key.team)
        #expect(current.keyID == key.keyID)
    }

    @Test func aSecretForOtherIDsIsNotPublishedWhileNoNewOneCanBeMade() throws {
        let bench = try settled(try Values.client(web, actions: [Values.exec("/bin/after")]))
        let old = try bench.current(web)
        bench.prints = [:]
        try bench.reload([
            web: Values.client(
                web, id: "com.example.other", outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")],
                actions: [Values.exec("/bin/after"), Values.exec("/bin/new")])
        ])
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.held(in: "new.jwt") == nil)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        #expect(try bench.view(web).outputs.map(\.state) == [.pending, .pending])
        #expect(try bench.view(web).health == .critical)
    }

    /// Secrets are ordered by their `iat`, which is never in the future.
    @Test func eachOfManyRenewalsWithinASecondComesAfterTheOneBefore() throws {
        let bench = try Bench(["web": Values.client("web")]).settled()
        var last = try #require(try bench.current("web"))
        for number in UInt64(1)...200 {
            bench.forget()
            let began = bench.now.wall
            bench.ask(.renew(.init()), number)
            for _ in 1...2 where bench.answer(number) == nil { bench.pass(1) }
            #expect(bench.answer(number) == .renewed([try bench.renewed("web")]), "\(number)")
            let next = try #require(try bench.current("web"))
            #expect(next.issuedAt > last.issuedAt, "\(number)")
            #expect(next.issuedAt < bench.now.wall, "\(number)")
            #expect(bench.now.wall - began <= 2)
            last = next
        }
    }

    /// Such as by a clock that was ahead.
    @Test func aSecretFromTheFutureDelaysNoRenewal() throws {
        let bench = try Bench(["web": Values.client("web")])
        try bench.place(try Values.issued(1, from: 3600, signer: Values.print("1")), in: "web.jwt")
        bench.go()
        let current = try #require(try bench.current("web"))
        #expect(current.issuedAt < bench.now.wall)
        #expect(try bench.held(in: "web.jwt") == current)
    }

    @Test func aSecretThatFitsAgainIsTakenUpInsteadOfOneThatDoesNot() throws {
        let bench = try settled()
        let first = try #require(try bench.current(web))
        let other = try Values.keyEntry(keyID: "XYZ123DEFG")
        try bench.failWrites(of: "web.jwt")
        bench.reload(try Values.configuration([web: Values.client(web)], keys: ["apple": other]))
        #expect(try bench.current(web) != first)
        // The administrator reverts the change while the file still holds the previous secret.
        bench.failingWrites = [:]
        bench.forget()
        try bench.reload([web: Values.client(web)])
        #expect(bench.mintReasons == [])
        #expect(try bench.current(web) == first)
        #expect(try bench.records[Values.name(web)]?.current == first)
    }

    @Test func theSecretInForceStaysAlthoughAnOlderOneThatLastsLongerLiesInAnOutput() throws {
        let outputs = [try Values.raw("a"), try Values.raw("b")]
        let bench = try settled(try Values.client(web, outputs: outputs))
        try bench.failWrites(of: "b")
        try bench.reload([web: Values.client(web, lifetime: 9 * Values.day, renewBefore: Values.day, outputs: outputs)])
        bench.ask(.renew(.init()), 2)
        let short = try bench.current(web)
        try bench.reload([web: Values.client(web, renewBefore: Values.day, outputs: outputs)], 3)
        #expect(try bench.current(web) == short)
        #expect(try bench.held(in: "a") == short)
        #expect(try bench.held(in: "b") != short)
    }

    // MARK: Clients that share an action or a file

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
