import AppleClientSecret
import Failures
import Testing

@testable import Rotation

/// What a changed key or configuration does to the secrets that are in force.
@Suite struct ChangeTests {
    private let web = "web"

    private func settled(_ entry: ClientConfiguration? = nil) throws -> Bench {
        let bench = try Bench(try Values.configuration([web: try entry ?? Values.client(web)]))
        bench.go()
        bench.forget()
        return bench
    }

    @Test func aReplacedKeyReplacesTheSecret() throws {
        let bench = try settled()
        let old = try #require(try bench.current(web))
        bench.prints[try Values.key()] = try Values.print("2")
        bench.tell(.changeNoticed(.key(try Values.key())))
        #expect(bench.log == [])
        bench.pass(1)
        // The key change is kept at once, the new secret when it is minted.
        #expect(bench.log == ["read apple", "look web.jwt", "mint web", "keep web", "keep web", "publish web.jwt"])
        #expect(bench.mintReasons == [.unusable(old)])
    }

    @Test func aKeyThatIsReplacedWhileAnUnusableOneIsReadIsInUseSoon() throws {
        let key = try Values.key()
        let bench = try Bench(try Values.configuration(["web": Values.client("web")]))
        bench.failures = [.key(key): Failure(.keyTruncated, at: .key(key))]
        bench.go()
        // By now it is retried once a minute.
        bench.pass(3600)
        bench.held = [.key(key)]
        bench.pass(60)
        bench.tell(.changeNoticed(.key(key)))
        bench.release(.key(key))
        bench.failures = [:]
        bench.pass(5)
        #expect(try bench.view("web").health == .ok)
    }

    @Test func recordsOfClientsThatAreLongGoneAreTidiedAwayAfterAReload() throws {
        let bench = try Bench(try Values.configuration([web: Values.client(web)]), builtAt: Values.day)
        func tidied() -> [Work] {
            bench.works.filter { if case .tidyRecords = $0 { true } else { false } }
        }
        let place = OutputPlace(path: try Values.path("web.jwt"), slot: .whole)
        let other = OutputPlace(path: try Values.path("other.jwt"), slot: .whole)
        bench.go()
        // Nothing is tidied while the clock is not trusted.
        #expect(tidied() == [])
        bench.pass(Values.day)
        let first = Work.tidyRecords(
            keeping: [try Values.name(web)], expiredBefore: Values.moment(Values.day) - Lifetime.appleLimit,
            former: [], outputs: [place])
        #expect(tidied() == [first])
        bench.forget()
        bench.reload(try Values.configuration(["other": Values.client("other")]))
        let second = Work.tidyRecords(
            keeping: [try Values.name("other")], expiredBefore: bench.now.wall - Lifetime.appleLimit,
            former: [place], outputs: [other])
        #expect(tidied() == [second])
    }

    @Test func aKeyFileThatIsRewrittenWithTheSameKeyChangesNothing() throws {
        let bench = try settled()
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(1)
        #expect(bench.log == ["read apple"])
    }

    @Test func aKeyReplacedWhileItWasBeingReadIsReadAgain() throws {
        let bench = try settled()
        let key = Resource.key(try Values.key())
        bench.held = [key]
        bench.tell(.changeNoticed(key))
        bench.pass(1)
        // The running job has read the old content; the notification comes before it ends.
        bench.tell(.changeNoticed(key))
        bench.release(key)
        bench.pass(1)
        #expect(bench.log == ["read apple", "read apple"])
    }

    @Test func aKeyIsNotReadInTheMiddleOfBeingWritten() throws {
        let bench = try settled()
        let key = Resource.key(try Values.key())
        bench.prints = [:]
        bench.tell(.changeNoticed(key))
        // Truncated, and half a second later written.
        bench.prints = [try Values.key(): try Values.print("1")]
        bench.tell(.changeNoticed(key))
        bench.pass(60)
        #expect(bench.log == ["read apple"])
        #expect(bench.entries == [])
    }

    @Test func aDirectoryThatIsNeverQuietCostsOneLookASecondAtMost() throws {
        let bench = try settled()
        for _ in 0..<60 {
            bench.tell(.changeNoticed(.key(try Values.key())))
            bench.tell(.changeNoticed(.file(try Values.path("web.jwt"))))
            bench.tell(.changeNoticed(.configuration))
            bench.pass(1)
        }
        for observe in ["read apple", "look web.jwt", "check configuration"] {
            let count = bench.log.filter { $0 == observe }.count
            #expect(count >= 6 && count <= 60, "\(observe) \(count)")
        }
        // A key that cannot be used is read no more often.
        bench.prints = [:]
        bench.forget()
        for _ in 0..<1000 { bench.tell(.changeNoticed(.key(try Values.key()))) }
        #expect(bench.log == [])
    }

    @Test func whatWasReadBecauseOfANoticeIsNoReasonToWakeAgain() throws {
        let bench = try settled()
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.tell(.changeNoticed(.configuration))
        #expect(bench.lastStep.wake.boot != nil)
        // One plan starts both reads; from then on only the jobs' time limit wakes.
        bench.held = [.key(try Values.key()), .configuration]
        bench.pass(1)
        #expect(bench.log == ["check configuration", "read apple"])
        #expect(bench.lastStep.wake.boot == BootTime(milliseconds: bench.boot) + Rotation.patience)
    }

    @Test func aKeyThatIsFixedIsReadAtOnce() throws {
        let bench = try settled()
        bench.prints = [:]
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(300)
        bench.prints = [try Values.key(): try Values.print("2")]
        bench.forget()
        bench.tell(.changeNoticed(.key(try Values.key())))
        bench.pass(1)
        #expect(bench.log == ["read apple", "look web.jwt", "mint web", "keep web", "keep web", "publish web.jwt"])
    }

    @Test func aSecretSignedByAnotherKeyThanWasReadHasTheKeyReadAgain() throws {
        // The file was replaced between the read and the signing, and no notification has come yet.
        let bench = try settled()
        bench.prints[try Values.key()] = try Values.print("2")
        bench.ask(.renew(.init()))
        #expect(
            bench.log == [
                "look web.jwt", "mint web", "read apple", "look web.jwt", "keep web", "publish web.jwt",
            ])
        #expect(try bench.view(web).reason?.failure.code == .keyChanged)
    }

    @Test(arguments: ["client id", "team id", "key id"])
    func changedIDsReplaceTheSecret(which: String) throws {
        let bench = try settled()
        let entry = try Values.client(web, id: which == "client id" ? "com.example.other" : nil)
        let key = try Values.keyEntry(
            team: which == "team id" ? "XYZ123GHIJ" : "DEF123GHIJ",
            keyID: which == "key id" ? "XYZ123DEFG" : "ABC123DEFG")
        bench.reload(try Values.configuration([web: entry], keys: ["apple": key]))
        #expect(
            bench.log == [
                "read configuration", "read apple", "look web.jwt", "mint web", "keep web", "publish web.jwt",
            ])
        let current = try #require(try bench.current(web))
        #expect(current.client == entry.clientID)
        #expect(current.team == key.team)
        #expect(current.keyID == key.keyID)
    }

    @Test func aSecretForOtherIDsIsNotPublishedWhileNoNewOneCanBeMade() throws {
        let bench = try settled(try Values.client(web, actions: [Values.exec("/bin/after")]))
        let old = try bench.current(web)
        bench.prints = [:]
        bench.reload(
            try Values.configuration([
                web: Values.client(
                    web, id: "com.example.other", outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")],
                    actions: [Values.exec("/bin/after"), Values.exec("/bin/new")])
            ]))
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(try bench.held(in: "new.jwt") == nil)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        #expect(try bench.view(web).outputs.map(\.state) == [.pending, .pending])
        #expect(try bench.view(web).health == .critical)
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
        bench.reload(try Values.configuration([web: Values.client(web)]))
        #expect(bench.log == ["read configuration", "read apple", "look web.jwt", "keep web"])
        #expect(try bench.current(web) == first)
    }

    @Test func aShorterLifetimeReplacesWhatIsOverdueByIt() throws {
        let bench = try settled()
        bench.pass(10 * Values.day)
        bench.forget()
        bench.reload(
            try Values.configuration([web: Values.client(web, lifetime: 12 * Values.day, renewBefore: 4 * Values.day)]))
        #expect(bench.log.contains("mint web"))
        #expect(try bench.current(web)?.expiresAt == Values.moment(22 * Values.day))
    }

    @Test func aLongerLifetimeReplacesNothing() throws {
        let bench = try settled()
        bench.pass(10 * Values.day)
        bench.forget()
        bench.reload(try Values.configuration([web: Values.client(web, lifetime: 150 * Values.day)]))
        #expect(bench.log == ["read configuration", "read apple", "look web.jwt"])
    }

    @Test func theSecretInForceStaysAlthoughAnOlderOneThatLastsLongerLiesInAnOutput() throws {
        let outputs = [try Values.raw("a"), try Values.raw("b")]
        let bench = try settled(try Values.client(web, outputs: outputs))
        try bench.failWrites(of: "b")
        bench.reload(
            try Values.configuration([
                web: Values.client(web, lifetime: 9 * Values.day, renewBefore: Values.day, outputs: outputs)
            ]))
        bench.ask(.renew(.init()), 2)
        let short = try bench.current(web)
        bench.reload(try Values.configuration([web: Values.client(web, renewBefore: Values.day, outputs: outputs)]), 3)
        #expect(try bench.current(web) == short)
        #expect(try bench.held(in: "a") == short)
        #expect(try bench.held(in: "b") != short)
    }

    @Test func anOutputThatIsAddedGetsTheCurrentSecret() throws {
        let bench = try settled()
        let current = try bench.current(web)
        bench.reload(
            try Values.configuration([web: Values.client(web, outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")])])
        )
        // The record names the new output before the secret is written there.
        #expect(
            bench.log == [
                "read configuration", "read apple", "look new.jwt", "look web.jwt", "keep web", "publish new.jwt",
            ])
        #expect(try bench.held(in: "new.jwt") == current)
    }

    @Test func anActionThatIsAddedIsRunForTheCurrentSecret() throws {
        let bench = try settled()
        bench.reload(try Values.configuration([web: Values.client(web, actions: [Values.exec("/bin/after")])]))
        #expect(bench.log.suffix(2) == ["run exec /bin/after for web", "keep web"])
    }

    @Test func aClientThatIsRemovedWhileItsJobsRunIsForgotten() throws {
        let native = try Values.name("native")
        let both = try Values.configuration([web: Values.client(web), "native": Values.client("native")])
        for held in [
            Resource.client(native), .record(native), .file(try Values.path("native.jwt")), .key(try Values.key()),
        ] {
            let bench = try Bench(both)
            bench.held = [held]
            bench.go()
            bench.reload(try Values.configuration([web: Values.client(web)]))
            bench.release(held)
            #expect(try bench.view(web).health == .ok, "\(held)")
            #expect(bench.answer() == .reloaded(unserved: []), "\(held)")
            #expect(bench.rotation.isIdle, "\(held)")
            #expect(bench.rotation.renewal[native] == nil, "\(held)")
            #expect(bench.rotation.failures.isEmpty, "\(held)")
        }
    }

    @Test func whatFailsForARemovedKeyOrFileIsNobodysFailure() throws {
        let spare = try Values.key("spare")
        let both = try Values.configuration(
            [web: Values.client(web), "native": Values.client("native", key: "spare")],
            keys: Values.withSpareKey())
        let path = try Values.path("native.jwt")
        for held in [Resource.key(spare), .file(path)] {
            let bench = try Bench(both)
            bench.held = [held]
            bench.go()
            bench.reload(try Values.configuration([web: Values.client(web)]))
            bench.failures = [held: Failure(.ioError, at: .path(path))]
            bench.forget()
            bench.release(held)
            #expect(bench.rotation.failures.isEmpty, "\(held)")
            #expect(!bench.rotation.keys.isConfigured(spare), "\(held)")
            #expect(bench.entries.isEmpty, "\(held)")
        }
    }

    // MARK: Outputs that move

    private let after = Values.exec("/bin/after")

    private func runs(_ bench: Bench) -> Int {
        bench.log.filter { $0.hasPrefix("run") }.count
    }

    @Test func anOutputThatIsAddedOrMovedRunsTheActions() throws {
        let bench = try settled(try Values.client(web, actions: [after]))
        var entry = try Values.client(web, actions: [after])
        entry.outputs.append(try Values.raw("second.jwt"))
        bench.reload(try Values.configuration([web: entry]))
        #expect(try bench.held(in: "second.jwt") == bench.current(web))
        #expect(runs(bench) == 1)
        entry.outputs = [try Values.raw("third.jwt")]
        bench.reload(try Values.configuration([web: entry]))
        #expect(runs(bench) == 2)
        // Nothing is written, so no action runs.
        bench.reload(try Values.configuration([web: entry]))
        #expect(runs(bench) == 2)
        #expect(try bench.view(web).health == .ok)
    }

    @Test func clientsThatChangePlacesRunTheirActions() throws {
        let other = Values.exec("/bin/other")
        func configuration(_ webs: String, _ others: String) throws -> Configuration {
            var first = try Values.client(web, actions: [after])
            var second = try Values.client("other", actions: [other])
            first.outputs = [try Values.raw(webs)]
            second.outputs = [try Values.raw(others)]
            return try Values.configuration([web: first, "other": second])
        }
        let bench = try Bench(try configuration("a.jwt", "b.jwt"))
        bench.go()
        bench.forget()
        bench.reload(try configuration("b.jwt", "a.jwt"))
        #expect(try bench.held(in: "b.jwt") == bench.current(web))
        let runs = bench.log.filter { $0.hasPrefix("run") }.sorted()
        #expect(runs == ["run exec /bin/after for web", "run exec /bin/other for other"])
    }

    @Test func afterARebootNoActionRunsForWhatWillBeRead() throws {
        let bench = try settled(try Values.client(web, actions: [after]))
        bench.disk = [:]
        try bench.restart(bench.rotation.configuration)
        #expect(bench.log.contains("publish web.jwt"))
        #expect(runs(bench) == 0)
    }
}
