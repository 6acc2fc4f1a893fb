import Testing

@testable import Model
@testable import Rotation

/// Views are shared between snapshots, and still compare and change like values.
@Suite struct ClientViewsTests {
    private func views() throws -> ClientViews {
        let bench = try Bench(["a": try Values.client("a"), "b": try Values.client("b")])
        bench.go()
        return bench.rotation.snapshot(at: bench.now).clients
    }

    @Test func equalViewsAreEqualWhoeverMadeThem() throws {
        let shared = try views()
        #expect(shared.map(\.name.description) == ["a", "b"])
        #expect(ClientViews(Array(shared)) == shared)
        #expect(ClientViews(shared.dropLast()) != shared)
        #expect(ClientViews(shared.reversed()) != shared)
    }

    @Test func aChangeIsSeenAndLeavesOtherSnapshotsAsTheyWere() throws {
        let before = try views()
        var after = before
        after[1].renewals += 1
        #expect(after != before)
        #expect(after[1].renewals == before[1].renewals + 1)
        #expect(after[0] == before[0])
    }
}
