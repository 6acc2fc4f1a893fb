import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Outputs
import State
import TestSupport
import Testing

@Suite struct StateDirectoryTests {
    private let scratch: TemporaryDirectory
    private let web: ClientName

    init() throws {
        scratch = try TemporaryDirectory()
        web = try #require(ClientName("web"))
    }

    private func open(_ name: String = "state") throws -> StateDirectory {
        try StateDirectory.open(try Samples.path(scratch(name)), as: .current())
    }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: scratch(name))[.posixPermissions] as? Int)
    }

    private func failure(_ body: () throws -> Void) -> Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? Failure
        }
    }

    private func records() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: scratch("state/clients")))
    }

    @Test func isCreatedForItsOwnerOnly() throws {
        let state = try open()
        try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
        #expect(try mode("state") == 0o700 && mode("state/clients") == 0o700)
        #expect(try mode("state/clients/web.state") == 0o600 && mode("state/lock") == 0o600)
    }

    @Test func knowsHowLongTheClockHasRun() throws {
        func peek() throws -> BootRecord { BootRecord(in: try Samples.path(scratch("state")), as: .current()) }
        #expect(try peek() == .unused)
        #expect(try open().clock.run == .fromTheStart)
        let run = ClockRun(since: BootTime(milliseconds: 1_000), doubtedSince: BootTime(milliseconds: 2_000))
        do { try open().keep(run) }
        #expect(try peek() == .running(run))
        #expect(try open().clock.run == run)
        // Set, or the machine was started again, while no daemon ran: it is not known when.
        let boot = try #require(Int64(try scratch.read("state/boot").split(separator: " ")[0]))
        for other in ["\(boot - 3_600) 1000", "\(boot)", "rubbish"] {
            try scratch.write(other, to: "state/boot")
            #expect(try !peek().wasUsedSinceBoot, "\(other)")
            let since = try open().clock.run.since
            #expect(since > run.since)
            #expect(try peek().wasUsedSinceBoot && peek().run.since == since)
        }
        // A file that cannot be read does not say that the directory was never used.
        try scratch.write(String(repeating: "1", count: 1_000), to: "state/boot")
        #expect(try peek().run.since > run.since)
    }

    @Test func keepsOverARestart() throws {
        var kept = Record()
        kept.delivered = [ActionID("restart a.service"): try Samples.secret(1).issued]
        kept.shared = [try Samples.path("/srv/.env")]
        let record = RecordWithSecrets(kept, current: try Samples.kept(1), candidate: try Samples.kept(2))
        var tag = ""
        do {
            let state = try open()
            tag = state.naming.tag
            #expect(try state.recall(web, publishedAt: []) == nil)
            try state.keep(RecordWithSecrets(), of: web)
            try state.keep(record, of: web)
        }
        let state = try open()
        #expect(state.naming.tag == tag)
        let back = try #require(try state.recall(web, publishedAt: []))
        #expect(back.record == record.record)
    }

    /// A client may be renamed, or get another's output, while no daemon runs.
    @Test func anOutputsRecordBelongsToItsPresentClient() throws {
        let shared = OutputPlace(path: try Samples.path("/srv/.env"), slot: .variable("SECRET"))
        let own = OutputPlace(path: try Samples.path("/srv/web.json"), slot: .whole)
        let other = OutputPlace(path: try Samples.path("/srv/other.env"), slot: .variable("SECRET"))
        func record(_ shared: Set<AbsolutePath>, _ outputs: Set<OutputPlace>) -> Record {
            var record = Record()
            (record.shared, record.outputs) = (shared, outputs)
            return record
        }
        let old = record([shared.path, other.path], [shared, own, other])
        try open().keep(RecordWithSecrets(old, current: try Samples.kept(1)), of: web)
        let shop = try #require(ClientName("shop"))

        let state = try open()
        let renamed = try #require(try state.recall(shop, publishedAt: [shared, own]))
        #expect(renamed.record == record([shared.path], [shared, own]))
        #expect(try state.recall(shop, publishedAt: []) == nil)
        // What a client's own record says of an output is newer.
        let moved = record([], [shared])
        try state.keep(RecordWithSecrets(moved, current: try Samples.kept(2)), of: shop)
        let found = try #require(try state.recall(shop, publishedAt: [shared])?.record)
        #expect(found.shared == [] && found.outputs == [shared])
        // What is kept later counts after the next look at all records.
        let later = OutputPlace(path: try Samples.path("/srv/later.json"), slot: .whole)
        try state.keep(RecordWithSecrets(record([], [later]), current: try Samples.kept(1)), of: web)
        state.tidy(keeping: [shop], expiredBefore: WallTime(secondsSinceEpoch: 0))
        #expect(try state.recall(shop, publishedAt: [shared, later])?.record.outputs == [shared, later])
    }

    /// A thousand clients may have new outputs.
    @Test func allRecordsAreReadOnceForNewOutputs() throws {
        let place = OutputPlace(path: try Samples.path("/srv/web.json"), slot: .whole)
        var record = Record()
        record.outputs = [place]
        try open().keep(RecordWithSecrets(record, current: try Samples.kept(1)), of: web)
        let files = StateReader(in: try Samples.path(scratch("state")), as: .current())
        let (shop, other) = (try #require(ClientName("shop")), try #require(ClientName("other")))
        #expect(try files.recall(shop, publishedAt: [place])?.record.outputs == [place])
        try FileManager.default.removeItem(atPath: scratch("state/clients/web.state"))
        #expect(try files.recall(other, publishedAt: [place])?.record.outputs == [place])
    }

    @Test func keepsTheReportedStatesOverARestart() throws {
        var reported = ReportedStates()
        reported.health = .critical
        reported.stages = [web: .expired]
        reported.owed = [ActionID("start notice@%s.service")]
        reported.starts = [
            ActionID("exec /bin/pager"): [WallTime(secondsSinceEpoch: 1), WallTime(secondsSinceEpoch: 2)]
        ]
        do {
            let state = try open()
            #expect(try state.recallReportedStates() == nil)
            try state.keep(reported)
        }
        #expect(try open().recallReportedStates() == reported)
        #expect(try mode("state/reported-states.state") == 0o600)
    }

    @Test func damagedReportedStatesAreSetAside() throws {
        let state = try open()
        try scratch.write("rubbish", to: "state/reported-states.state")
        #expect(failure { _ = try state.recallReportedStates() }?.code == .stateDamaged)
        #expect(try state.recallReportedStates() == nil)
        #expect(try scratch.read("state/reported-states.state.damaged") == "rubbish")
    }

    @Test func recordsOfRemovedClientsGoOnceTheyAreOfNoUse() throws {
        let state = try open()
        let kept = try Samples.kept()
        let end = kept.secret.issued.expiresAt
        for name in ["gone", "configured", "delivered"] {
            try state.keep(RecordWithSecrets(current: kept), of: try #require(ClientName(name)))
        }
        let later = SecretInfo(
            fingerprint: kept.secret.issued.fingerprint,
            claims: Claims(
                issuer: kept.secret.issued.team, keyID: kept.secret.issued.keyID, subject: kept.secret.issued.client,
                issuedAt: kept.secret.issued.issuedAt, expiresAt: end + 10), signer: nil)
        var delivered = Record()
        delivered.delivered = [ActionID("restart a.service"): later]
        try state.keep(RecordWithSecrets(delivered, current: kept), of: try #require(ClientName("delivered")))
        try state.keep(RecordWithSecrets(), of: try #require(ClientName("empty")))
        try scratch.write("rubbish", to: "state/clients/odd.state")
        let configured: Set = [try #require(ClientName("configured"))]
        let others: Set = ["configured.state", "delivered.state", "empty.state", "odd.state"]

        state.tidy(keeping: configured, expiredBefore: end)
        #expect(try records() == others.union(["gone.state"]))
        state.tidy(keeping: configured, expiredBefore: end + 1)
        #expect(try records() == others)
        state.tidy(keeping: configured, expiredBefore: end + 11)
        #expect(try records() == others.subtracting(["delivered.state"]))
    }

    /// Other clients may give its applications other secrets until it is configured again.
    @Test func onlyTheSecretOfAClientThatIsNotConfiguredIsKnown() throws {
        let state = try open()
        let shop = try #require(ClientName("shop"))
        var record = Record()
        record.delivered = [ActionID("restart a.service"): try Samples.secret(1).issued]
        record.pushed = [PushOutput(target: try #require(TargetName("api")), place: "p"): try Samples.secret(1).issued]
        let kept = RecordWithSecrets(record, current: try Samples.kept(1))
        for client in [web, shop] { try state.keep(kept, of: client) }
        state.tidy(keeping: [web], expiredBefore: WallTime(secondsSinceEpoch: 0))
        #expect(try state.recall(web, publishedAt: [])?.record == kept.record)
        let left = try #require(try state.recall(shop, publishedAt: [])?.record)
        #expect(left.current == kept.record.current && left.pushed.isEmpty)
        #expect(left.delivered == [.unknown: try Samples.secret(1).issued])
    }

    @Test func isHeldByOneDaemon() throws {
        let path = try Samples.path(scratch("state"))
        let state = try open()
        #expect(throws: Failure(.stateLocked, at: .path(path))) { _ = try open() }
        withExtendedLifetime(state) {}
    }

    @Test func aDamagedRecordIsSetAsideOnce() throws {
        let state = try open()
        try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
        let path = scratch("state/clients/web.state")
        let whole = try #require(FileManager.default.contents(atPath: path))
        try scratch.write("mine", to: "state/clients/notes")
        for length in stride(from: 0, to: whole.count, by: 97) {
            try Data(whole.prefix(length)).write(to: URL(fileURLWithPath: path))
            let found = failure { _ = try state.recall(web, publishedAt: []) }
            #expect(found == Failure(.stateDamaged, at: .path(try Samples.path(path))), "\(length) bytes")
            #expect(try state.recall(web, publishedAt: []) == nil)
            #expect(try records() == ["web.state.damaged", "notes"])
        }
        try state.keep(RecordWithSecrets(current: try Samples.kept(1)), of: web)
        #expect(try state.recall(web, publishedAt: [])?.current?.secret.issued == Samples.kept(1).secret.issued)
    }

    @Test func aNewerRecordIsSetAside() throws {
        let state = try open()
        let path = scratch("state/clients/web.state")
        try scratch.write("clientsecretd-state 2 something\n", to: "state/clients/web.state")
        #expect(
            failure { _ = try state.recall(web, publishedAt: []) }?.message
                == "\(path): a record of a newer version was set aside")
        #expect(try records() == ["web.state.newer"])
        #expect(try state.recall(web, publishedAt: []) == nil)
    }

    @Test(.needs(.root)) func aRecordThatOthersMayHaveWrittenIsNotBelieved() throws {
        let state = try open()
        let path = scratch("state/clients/web.state")
        try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
        try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path)
        #expect(
            failure { _ = try state.recall(web, publishedAt: []) }
                == Failure(.stateDamaged, at: .path(try Samples.path(path)), detail: "others may have written it"))
        try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
        try #require(run(["chown", "daemon", path]).status == 0)
        #expect(failure { _ = try state.recall(web, publishedAt: []) }?.code == .stateDamaged)
    }

    @Test(.timeLimit(.minutes(1))) func aRecordThatIsNoFileIsSetAside() throws {
        let state = try open()
        try #require(run(["mkfifo", scratch("state/clients/web.state")]).status == 0)
        #expect(failure { _ = try state.recall(web, publishedAt: []) }?.code == .stateDamaged)
        try state.keep(RecordWithSecrets(), of: web)
        #expect(try state.recall(web, publishedAt: []) != nil)
    }

    @Test(.needs(.root)) func theRemedyCreatesMissingParentsForTheUser() throws {
        let path = try Samples.path(scratch("none/state"))
        let failure = try #require(StateDirectory.problem(with: path, as: .current()))
        #expect(failure.code == .stateUnusable)
        #expect(
            failure.remedy?.command?.hasPrefix(
                "mkdir -m 0755 \(scratch("none")) && install -d -m 0700 \(scratch("none/state"))") == true)
    }

    /// What the daemon will meet, which writes a record only when something changes.
    @Test(.needs(.root)) func recordsThatNothingCanReplaceAreFoundWithoutWriting() throws {
        let path = try Samples.path(scratch("state"))
        let state = try open()
        try state.keep(RecordWithSecrets(), of: web)
        #expect(StateDirectory.problem(with: path, as: .current()) == nil)
        try #require(run(["chown", "daemon", scratch("state/clients")]).status == 0)
        let failure = try #require(StateDirectory.problem(with: path, as: .current()))
        #expect(failure.code == .stateUnusable && failure.message.contains("state/clients"), "\(failure)")
    }

    @Test(.needs(.root)) func anUnusableDirectoryNamesItsFault() throws {
        func expect(_ name: String, _ detail: String, _ remedy: String? = nil) throws {
            let found = failure { _ = try open(name) }
            let place = Failure.Place.path(try Samples.path(scratch(name)))
            #expect(found?.code == .stateUnusable && found?.place == place)
            #expect(found?.detail?.replacing(scratch.path, with: "DIR") == detail)
            guard let remedy else { return }
            #expect(found?.remedy?.description.replacing(scratch.path, with: "DIR") == remedy)
        }
        try expect("none/state", "DIR/none: its directory does not exist (no such file or directory)")
        try scratch.write("", to: "file")
        try expect("file", "DIR/file: part of its path is not a directory")
        try scratch.folder("open", mode: 0o777)
        try expect(
            "open", "DIR/open: other users may write to a directory in its path",
            "use another directory, or remove write permission for its group and others")
        try scratch.folder("theirs")
        try #require(run(["chown", "daemon", scratch("theirs")]).status == 0)
        try expect(
            "theirs",
            "DIR/theirs: the file belongs to another user and is not changed: the directory belongs to daemon (1)",
            "run the daemon as user \"daemon\", or use another directory")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch("theirs")).isEmpty)
    }

    /// systemd gives the whole directory to the service's user, but only if the directory itself is another's.
    @Test(.needs(.root)) func ownershipThatSystemdMendsIsLeftToIt() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            unsafe setenv("STATE_DIRECTORY", scratch("state"), 1)
            let path = try Samples.path(scratch("state"))
            func remedy() -> Remedy? {
                do {
                    _ = try StateDirectory.open(path, as: .current())
                    return nil
                } catch {
                    return error.remedy
                }
            }
            #expect(remedy() == nil)
            try #require(run(["chown", "daemon", scratch("state/clients")]).status == 0)
            #expect(
                remedy()
                    == .say(
                        "user \"daemon\" owns \(scratch("state/clients")): give it back to root, with all that is in it"
                    ))
            try #require(run(["chown", "daemon", scratch("state")]).status == 0)
            #expect(remedy()?.command == "systemctl restart clientsecretd.service")
            // It starts no service with a link there.
            try FileManager.default.moveItem(atPath: scratch("state"), toPath: scratch("disk"))
            try scratch.link("state", to: scratch("disk"))
            #expect(remedy() == .say("run the daemon as user \"daemon\", or use another directory"))
        }
    }

    @Test func aLookFromOutsideChangesNothing() throws {
        let path = try Samples.path(scratch("state"))
        #expect(try StateReader(in: path, as: .current()).recall(web) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        let state = try open()
        try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
        let seen = try StateReader(in: path, as: .current()).recall(web)
        #expect(seen?.current?.secret.issued == (try Samples.kept().secret.issued))
        try scratch.write("damage", to: "state/clients/web.state")
        let found = failure { _ = try StateReader(in: path, as: .current()).recall(web) }
        #expect(found?.code == .stateDamaged)
        #expect(try records() == ["web.state"])
        withExtendedLifetime(state) {}
    }

    @Test func ownTemporariesInItAreRemoved() throws {
        let tag = try open().naming.tag
        let names = [tag, String(repeating: "0", count: 16)].map {
            ".clientsecretd-\($0)-\(String(repeating: "0a", count: 16)).tmp"
        }
        for directory in ["state", "state/clients"] {
            for name in names { try scratch.write("x", to: "\(directory)/\(name)") }
        }
        _ = try open()
        for directory in ["state", "state/clients"] {
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch(directory))
            #expect(!left.contains(names[0]) && left.contains(names[1]), "\(directory)")
        }
    }
}
