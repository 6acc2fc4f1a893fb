import AppleClientSecret
import Testing

@testable import Model
@testable import Rotation

/// Outputs that a reload removes and that stay on disk.
@Suite struct OrphanedOutputTests {
    private let web = "web"
    private let old = "old.jwt"

    private func place(_ file: String, _ slot: FileSlot = .whole) throws -> OutputPlace {
        OutputPlace(path: try Values.path(file), slot: slot)
    }

    private func orphan(_ file: String, to: Int64? = 80 * Values.day) throws -> OrphanedOutput {
        OrphanedOutput(place: try place(file), expiresAt: to.map(Values.moment), isShared: false)
    }

    private func configuration(_ files: String...) throws -> Configuration {
        try Values.configuration([web: Values.client(web, outputs: files.map { try Values.raw($0) })])
    }

    private func named(_ bench: Bench) -> [OrphanedOutput] {
        bench.entries.compactMap { if case .orphaned(let orphan) = $0 { orphan } else { nil } }
    }

    /// The former outputs that jobs looked for since the last ``Bench/forget()``.
    private func lookedFor(_ bench: Bench) -> [Set<OutputPlace>] {
        bench.works.compactMap {
            if case .tidyRecords(_, _, let former, let outputs) = $0 { former.subtracting(outputs) } else { nil }
        }
    }

    @Test func aReloadNamesTheOutputsItTakesAwayOnceInTheJournalAndItsAnswer() throws {
        let bench = try Bench(try configuration("web.jwt", old)).started()
        #expect(lookedFor(bench) == [[]])
        #expect(named(bench) == [])
        bench.forget()
        bench.orphans = [try orphan(old)]
        bench.reload(try configuration("web.jwt"))
        #expect(lookedFor(bench) == [[try place(old)]])
        #expect(named(bench) == [try orphan(old)])
        #expect(bench.answer() == .reloaded(unserved: [], orphaned: [try orphan(old).sentence]))
        #expect(try bench.records[Values.name(web)]?.outputs == [place("web.jwt")])
        bench.forget()
        bench.orphans = []
        bench.reload(try configuration("web.jwt"))
        #expect(lookedFor(bench) == [[]])
        #expect(bench.answer() == .reloaded(unserved: []))
    }

    @Test func theAnswerWaitsUntilItIsKnown() throws {
        let bench = try Bench(try configuration("web.jwt", old)).started()
        bench.orphans = [try orphan(old)]
        bench.held = [.state]
        bench.reload(try configuration("web.jwt"))
        #expect(bench.answer() == nil)
        bench.release(.state)
        #expect(bench.answer() == .reloaded(unserved: [], orphaned: [try orphan(old).sentence]))
        // But not longer than the 30 s that a job may take.
        bench.held = [.state]
        bench.reload(try configuration(old), 2)
        #expect(bench.answer(2) == nil)
        bench.pass(Rotation.overdueAfter.count)
        #expect(bench.answer(2) == .reloaded(unserved: []))
    }

    @Test func anExpiredSecretOrAnOutputInUseAgainIsNotNamed() throws {
        let bench = try Bench(try configuration("web.jwt", old)).started()
        bench.orphans = [try orphan(old, to: 0)]
        bench.reload(try configuration("web.jwt"))
        #expect(named(bench) == [])
        // Whether an unreadable one has expired is unknown, so it is named.
        bench.reload(try configuration("web.jwt", old), 2)
        bench.orphans = [try orphan(old, to: nil)]
        bench.reload(try configuration("web.jwt"), 3)
        #expect(named(bench) == [try orphan(old, to: nil)])
        bench.forget()
        bench.held = [.state]
        bench.reload(try configuration("web.jwt", "third.jwt"), 4)
        bench.orphans = [try orphan("third.jwt")]
        bench.reload(try configuration("web.jwt"), 5)
        bench.reload(try configuration("web.jwt", "third.jwt"), 6)
        bench.release(.state)
        #expect(named(bench) == [])
    }

    @Test func aPlaceBehindAnAPIIsNamedToo() throws {
        func configuration(_ target: String, at place: String) throws -> (Configuration, PushOutput) {
            var client = try Values.client(web)
            let output = PushOutput(target: try #require(TargetName(target)), place: place)
            client.targets = [output]
            return (try Values.configuration([web: client]), output)
        }
        let bench = try Bench(try configuration("production", at: "here").0).started()
        let expiry = try #require(try bench.current(web)).expiresAt
        // The same place under another name.
        let (renamed, output) = try configuration("live", at: "here")
        bench.reload(renamed)
        #expect(bench.answer() == .reloaded(unserved: []))
        let left = OrphanedOutput(output, expiresAt: expiry)
        for number in [UInt64(2), 3] {
            bench.forget()
            bench.reload(try configuration("live", at: "there").0, number)
            #expect(named(bench) == (number == 2 ? [left] : []))
            #expect(bench.answer(number) == .reloaded(unserved: [], orphaned: number == 2 ? [left.sentence] : []))
        }
        #expect(
            left.sentence == "target \"live\": it is no longer an output and holds a secret that is valid until "
                + "\(expiry); when nothing reads it, remove the secret there")
    }

    @Test func theWordsNameTheFileAndTheVariable() throws {
        let moment = Values.moment(0)
        func sentence(_ path: String, _ slot: FileSlot, _ expiry: WallTime?, shared: Bool) throws -> String {
            let path = try #require(AbsolutePath(path))
            return OrphanedOutput(place: .init(path: path, slot: slot), expiresAt: expiry, isShared: shared).sentence
        }
        #expect(
            try sentence("/run/a b.jwt", .whole, moment, shared: false)
                == "'/run/a b.jwt': is no longer an output and holds a secret that is valid until \(moment); "
                + "when nothing reads it, remove the file")
        #expect(
            try sentence("/srv/.env", .variable("APPLE"), moment, shared: true)
                == "/srv/.env: its variable APPLE is no longer an output and holds a secret that is valid until "
                + "\(moment); when nothing reads it, remove APPLE from the file")
        #expect(
            try sentence("/srv/.env", .whole, moment, shared: true)
                == "/srv/.env: it is another output now, and still holds a secret that is valid until \(moment) from before; "
                + "when nothing reads it, remove that secret from the file")
        #expect(
            try sentence("/srv/.env", .variable("APPLE"), nil, shared: false)
                == "/srv/.env: its variable APPLE is no longer an output and may hold a secret that is still valid; "
                + "when nothing reads it, remove the file")
    }
}
