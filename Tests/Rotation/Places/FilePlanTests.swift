import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// How files come to hold the current secrets.
@Suite struct FilePlanTests {
    private let web = "web"

    private func settled(_ clients: [String: ClientConfiguration]) throws -> Bench {
        try Bench(clients).settled()
    }

    /// A client whose file could not be read back for ten minutes.
    private func blind() throws -> Bench {
        let bench = try settled([web: Values.client(web)])
        let failure = try Values.failure(.isDirectory, "web.jwt").seeing([:])
        bench.failures = [.file(try Values.path("web.jwt")): failure]
        try bench.debounce("web.jwt")
        bench.pass(600)
        bench.forget()
        return bench
    }

    @Test func aFileThatTwoClientsShareIsWrittenOnceForBoth() throws {
        let bench = try Bench(Values.sharingAFile())
        bench.held = [.client(try Values.name("native"))]
        bench.go()
        #expect(!bench.log.contains("publish .env"))
        bench.release(.client(try Values.name("native")))
        #expect(bench.log.filter { $0 == "publish .env" }.count == 1)
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        #expect(try bench.held(in: "/srv/.env", .variable("NATIVE")) == bench.current("native"))
    }

    @Test func oneClientsSecretIsWrittenWhileTheOtherHasNone() throws {
        let bench = try Bench(
            try Values.configuration(Values.sharingAFile(keyOfNative: "spare"), keys: Values.withSpareKey()))
        bench.prints[try Values.key("spare")] = nil
        bench.go()
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view("native").outputs.map(\.state) == [.pending])
        #expect(try bench.view("native").health == .critical)
        try bench.renew(web)
        #expect(try bench.answer() == .renewed([bench.renewed(web)]))
    }

    @Test func onlyTheFileThatCannotBeWrittenIsRetried() throws {
        let bench = try Bench([web: Values.client(web, outputs: [Values.raw("a"), Values.raw("b")])])
        try bench.failWrites(of: "b")
        bench.go()
        #expect(try bench.held(in: "a") == bench.current(web))
        bench.forget()
        bench.pass(300)
        #expect(Set(bench.log) == ["publish b"])
        #expect(bench.log.count > 4)
        #expect(try bench.view(web).outputs.map(\.state) == [.ok, .failed])
        #expect(try bench.view(web).outputs[1].error == Values.failure(.diskFull, "b").message)
        bench.failingWrites = [:]
        bench.pass(60)
        #expect(try bench.held(in: "b") == bench.current(web))
        #expect(try bench.view(web).health == .ok)
    }

    /// Another template or mode, say, three times in an hour.
    @Test(arguments: [false, true]) func aReloadThatWritesInAnotherWayIsNoDrift(isMode: Bool) throws {
        var configuration = try Values.configuration(["web": Values.client(web, actions: [Values.exec("/bin/tell")])])
        let bench = try Bench(configuration).started()
        let client = try Values.name(web)
        let path = try Values.path("web.jwt")
        for round in 1...5 {
            configuration.clients[client]?.outputs = [
                isMode
                    ? Output(path: path, format: .raw, mode: round.isMultiple(of: 2) ? 0o640 : 0o600)
                    : Output(path: path, format: FileFormat(name: "json", parameter: "\(round)"))
            ]
            // What the earlier template has written is nothing that this one reads.
            if isMode { bench.disk[path]?.isAsConfigured = false } else { try bench.place(nil, in: "web.jwt") }
            bench.forget()
            bench.reload(configuration)
            #expect(bench.written == ["web.jwt"])
            #expect(bench.runs == (isMode ? [] : ["exec /bin/tell for web"]), "applications read another file")
            #expect(bench.answer() == .reloaded(unserved: [], orphaned: []))
        }
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view(web).outputs.map(\.repairs) == [0])
    }

    @Test func aFileThatAnotherProgramHasFixedIsNoLongerAFailure() throws {
        let bench = try settled([web: Values.client(web)])
        let current = try bench.current(web)
        let file = try Values.path("web.jwt")
        bench.disk[file] = nil
        try bench.failWrites(of: "web.jwt")
        try bench.debounce("web.jwt")
        #expect(try bench.view(web).health == .critical)
        // After so many failures the pause is a minute, and the file is still looked at.
        bench.pass(600)
        bench.forget()
        try bench.debounce("web.jwt")
        #expect(bench.log == ["observe web.jwt"])
        #expect(try bench.view(web).outputs[0].error == Values.failure(.diskFull, "web.jwt").message)
        try bench.place(current, in: "web.jwt")
        bench.forget()
        try bench.debounce("web.jwt")
        #expect(bench.log.last == "observe web.jwt")
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.entries.contains(.recovered(.file(file), Values.failure(.diskFull, "web.jwt"))))
    }

    @Test func aFileThatCouldNotBeReadIsTriedAgainWhenItIsTouched() throws {
        let bench = try settled([web: Values.client(web)])
        let file = Resource.file(try Values.path("web.jwt"))
        bench.failures = [file: try Values.failure(.isDirectory, "web.jwt")]
        try bench.debounce("web.jwt")
        bench.pass(600)
        // After so many failures the pause is a minute.
        bench.failures = [:]
        bench.disk = [:]
        try bench.debounce("web.jwt")
        bench.pass(2)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(try bench.view(web).health == .ok)
    }

    /// What the file held before says nothing about what it holds now.
    @Test func aFileThatCannotBeReadIsNotCalledGoodWhenItIsTouched() throws {
        let bench = try blind()
        let file = Resource.file(try Values.path("web.jwt"))
        bench.held = [file]
        bench.tell(.changeNoticed(file))
        bench.pass(5)
        #expect(bench.log == ["observe web.jwt"])
        #expect(bench.entries == [])
        #expect(try bench.view(web).health == .critical)
    }

    @Test func aFileThatMayNotBeWrittenIsTriedAgainWhenThatChanges() throws {
        let bench = try settled([web: Values.client(web)])
        let file = try Values.path("web.jwt")
        for code in [Failure.Code.permissionDenied, .diskFull] {
            bench.disk[file] = FileObservation(slots: [.whole: .foreign])
            try bench.failWrites(of: "web.jwt", code)
            try bench.debounce("web.jwt")
            // After so many failures the pause is a minute.
            bench.pass(600)
            bench.failingWrites = [:]
            try bench.debounce("web.jwt")
            bench.pass(1)
            // No notification says that a disk has room again.
            let isGood = code == .permissionDenied
            #expect(try (bench.held(in: "web.jwt") == bench.current(web)) == isGood, "\(code)")
            #expect(try (bench.view(web).health == .ok) == isGood, "\(code)")
            bench.pass(60)
        }
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aFileThatIsAlwaysTouchedIsReadOnceASecondAtMost() throws {
        let bench = try blind()
        let file = Resource.file(try Values.path("web.jwt"))
        for _ in 0..<100 {
            bench.tell(.changeNoticed(file))
            bench.tell(.changeNoticed(file))
            bench.pass(1)
        }
        #expect(bench.log.count <= 101)
    }

    // MARK: Environment files shared with another program

    private func vanishing(withState: Bool = true) throws -> Bench {
        let bench = try Bench([web: Values.client(web, outputs: [Values.env("/srv/.env", "WEB")])])
        if !withState { bench.failures = [.record(try Values.name(web)): try Values.failure(.stateUnusable, "/state")] }
        bench.disk[try Values.path("/srv/.env")] = FileObservation(slots: [:], otherLines: true)
        bench.go()
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        return bench
    }

    @Test(arguments: [(true, false), (true, true), (false, false)])
    func oneThatWasDeletedIsNotMadeAgainUntilItExists(withState: Bool, isRestarted: Bool) throws {
        let bench = try vanishing(withState: withState)
        bench.disk = [:]
        if isRestarted {
            try bench.restart(bench.rotation.configuration)
        } else {
            try bench.debounce("/srv/.env")
        }
        bench.pass(3600)
        let path = try Values.path("/srv/.env")
        #expect(bench.disk[path] == nil)
        #expect(try bench.view(web).outputs.map(\.state) == [.failed])
        #expect(
            try bench.view(web).outputs[0].error == Failure(.outputDeleted, at: .path(path)).message)
        #expect(try bench.view(web).health == .critical)
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
    }

    /// An application reads the lines behind it.
    @Test func noCommandRemovesALinkInItsPlace() throws {
        let bench = try vanishing()
        let path = try Values.path("/srv/.env")
        let remedy = Remedy.reported("remove the link: rm /srv/.env", command: "rm /srv/.env")
        bench.failures[.file(path)] = Failure(.untrustedLink, at: .path(path), remedy: remedy)
        try bench.debounce("/srv/.env")
        bench.pass(60)
        let failure = try #require(bench.rotation.failures[.file(path)])
        #expect(failure.code == .untrustedLink && failure.remedy?.command == nil)
    }

    /// What could not be read were lines of others.
    @Test(arguments: [(Failure.Code.outputMalformed, false), (.outputMalformed, true), (.foreignOwner, false)])
    func oneThatWasNeverReadIsNotReplacedEither(code: Failure.Code, isRestarted: Bool) throws {
        let path = try Values.path("/srv/.env")
        let outputs = [try Values.env("/srv/.env", "WEB"), try Values.raw("web.jwt")]
        let bench = try Bench([web: Values.client(web, outputs: outputs)])
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        bench.failures[.file(path)] = Failure(code, at: .path(path))
        bench.go()
        bench.pass(60)
        bench.failures = [:]
        bench.disk[path] = nil
        if isRestarted { try bench.restart(bench.rotation.configuration) } else { try bench.debounce("/srv/.env") }
        bench.pass(3600)
        #expect(bench.disk[path] == nil)
        #expect(try bench.view(web).outputs.contains { $0.error == Failure(.outputDeleted, at: .path(path)).message })
    }

    /// The configuration names it again later, for the same client or for another one.
    @Test(arguments: [(false, "web"), (true, "web"), (false, "app")])
    func oneThatWasDeletedWhileNoOutputWasThereIsNotReplacedEither(isRestarted: Bool, client: String) throws {
        let path = try Values.path("/srv/.env")
        let bench = try vanishing()
        let env = try Values.client(client, outputs: [Values.env("/srv/.env", "WEB")])
        let elsewhere = try Values.configuration([web: Values.client(web), "app": Values.client("app")])
        var back = elsewhere
        back.clients[try Values.name(client)] = env
        bench.reload(elsewhere)
        bench.disk[path] = nil
        if isRestarted { try bench.restart(elsewhere) }
        bench.pass(3600)
        bench.reload(back)
        bench.pass(3600)
        #expect(bench.disk[path] == nil)
        #expect(try bench.view(client).outputs.map(\.error) == [Failure(.outputDeleted, at: .path(path)).message])
        // It exists, without other lines: from now on it is one like any other.
        bench.disk[path] = FileObservation(slots: [:])
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(client))
        bench.disk[path] = nil
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(client))
        #expect(bench.records.values.allSatisfy { $0.shared == [] })
    }

    @Test func oneThatIsDeletedWhileItIsWrittenIsNotReplaced() throws {
        let bench = try vanishing()
        bench.ask(.renew(.init()))
        let mayCreate = bench.works.compactMap { work -> Bool? in
            if case .publish(_, _, let mayCreate, _) = work { mayCreate } else { nil }
        }
        #expect(mayCreate == [false, false])
    }

    /// A program may be about to write its lines.
    @Test(arguments: [false, true])
    func oneThatWasEmptiedIsNotWrittenUntilItsLinesAreBack(isRestarted: Bool) throws {
        let bench = try vanishing()
        let path = try Values.path("/srv/.env")
        bench.disk[path] = FileObservation(slots: [:])
        bench.forget()
        if isRestarted { try bench.restart(bench.rotation.configuration) } else { try bench.debounce("/srv/.env") }
        bench.pass(3600)
        bench.ask(.renew(.init()))
        #expect(bench.disk[path]?.slots == [:])
        #expect(bench.runs == [])
        #expect(try bench.view(web).outputs.map(\.error) == [Failure(.outputEmptied, at: .path(path)).message])
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        try bench.debounce("/srv/.env")
        bench.pass(1)
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
    }

    @Test func oneThatStillHasItsVariableIsRepaired() throws {
        let bench = try vanishing()
        bench.disk[try Values.path("/srv/.env")] = FileObservation(slots: [.variable("WEB"): .foreign])
        try bench.debounce("/srv/.env")
        bench.pass(10)
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
    }

    // MARK: Files that another program is writing

    @Test func aFileThatAnotherProgramHasOpenIsWrittenAfterTenMinutes() throws {
        let bench = try settled([web: Values.client(web)])
        let path = try Values.path("web.jwt")
        let failure = Failure(.openForWriting, at: .path(path))
        bench.open = [path]
        bench.ask(.renew(.init()))
        bench.pass(570)
        #expect(try bench.held(in: "web.jwt") != bench.current(web))
        #expect(try bench.view(web).outputs.map(\.error) == [failure.message])
        #expect(!bench.entries.contains(.wroteOverWriter(path)))
        bench.pass(90)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(bench.entries.contains(.wroteOverWriter(path)))
    }

    @Test func aFileIsWrittenSoonAfterAnotherProgramHasClosedIt() throws {
        let bench = try settled([web: Values.client(web)])
        let path = try Values.path("web.jwt")
        bench.open = [path]
        bench.ask(.renew(.init()))
        bench.pass(300)
        bench.open = []
        try bench.debounce("web.jwt")
        bench.pass(2)
        #expect(try bench.held(in: "web.jwt") == bench.current(web))
        #expect(!bench.entries.contains(.wroteOverWriter(path)))
    }

    // MARK: Files that cannot be edited in one place

    /// Two clients' variables in one file, of which one cannot be written.
    private func doubtful() throws -> (bench: Bench, path: AbsolutePath, failure: Failure) {
        let path = try Values.path("/srv/.env")
        let failure = Failure(.outputMalformed, at: .path(path), detail: "line 3: its quote is not closed")
        let native = FileSlot.variable("NATIVE")
        let bench = try Bench(Values.sharingAFile())
        bench.disk[path] = FileObservation(
            slots: [native: .foreign], editFailures: [native: failure], otherLines: true)
        bench.go()
        return (bench, path, failure)
    }

    @Test func onlyTheClientWhoseVariableCannotBeWrittenFails() throws {
        let (bench, path, failure) = try doubtful()
        #expect(bench.rotation.isReady)
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        #expect(try bench.view(web).health == .ok)
        #expect(try bench.view("native").outputs.map(\.error) == [failure.message])
        #expect(try bench.view("native").health == .critical)
        #expect(try bench.view("native").reason?.failure == failure)
        // The other one is renewed, and repaired, as if it were alone.
        bench.pass(Values.day)
        bench.ask(.renew(.init()))
        #expect(try bench.answer() == .renewed([bench.failed("native", failure), bench.renewed(web)]))
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        bench.disk[path]?.slots[.variable("WEB")] = .foreign
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        #expect(bench.disk[path]?.slots[.variable("NATIVE")] == .foreign)
    }

    @Test func aVariableIsWrittenOnceItsLineWasCorrected() throws {
        let (bench, path, failure) = try doubtful()
        bench.disk[path]?.editFailures = [:]
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .variable("NATIVE")) == bench.current("native"))
        #expect(try bench.view("native").health == .ok)
        let name = try Values.name("native")
        #expect(bench.entries.contains(.recovered(.client(name), failure)))
    }

    // MARK: Files that hold something else

    private func expectForeign(_ bench: Bench, _ path: AbsolutePath) throws {
        #expect(bench.disk[path]?.slots == [.whole: .foreign])
        #expect(try bench.view(web).outputs.map(\.error) == [Failure(.outputForeign, at: .path(path)).message])
    }

    /// Such as a JSON object of another program: its secret is taken over, but the rest is not lost to the next one.
    @Test func oneThatHoldsTheSecretAmongOtherContentIsNotOverwrittenEither() throws {
        let path = try Values.path("/srv/web.json")
        let bench = try Bench([web: Values.client(web, outputs: [Values.raw("/srv/web.json")])])
        let found = try Values.issued(1, signer: Values.print("1"))
        try bench.place(found, in: "/srv/web.json", otherLines: true)
        bench.disk[path]?.isAsConfigured = false
        bench.strange = [path]
        bench.go()
        bench.pass(3600)
        try bench.restart(bench.rotation.configuration)
        bench.pass(3600)
        #expect(try bench.current(web) == found)
        #expect(try bench.held(in: "/srv/web.json") == found)
        let view = try bench.view(web)
        #expect(view.health == .degraded)
        #expect(view.outputs.map(\.error) == [Failure(.outputForeign, at: .path(path)).message])
    }

    @Test func oneThatWasNeverWrittenIsNotOverwrittenAfterARestartEither() throws {
        let path = try Values.path("/srv/.env")
        let bench = try Bench([web: Values.client(web, outputs: [Values.raw("/srv/.env")])])
        bench.disk[path] = FileObservation(slots: [.whole: .foreign])
        bench.strange = [path]
        bench.go()
        try expectForeign(bench, path)
        bench.pass(3600)
        try bench.restart(bench.rotation.configuration)
        bench.pass(3600)
        try expectForeign(bench, path)
        // Without it, the output is one like any other.
        (bench.disk, bench.strange) = ([:], [])
        try bench.debounce("/srv/.env")
        #expect(try bench.held(in: "/srv/.env", .whole) == bench.current(web))
    }

    @Test(arguments: [false, true]) func oneThatWasWrittenAndIsDamagedIsRepaired(isAfterARestart: Bool) throws {
        let path = try Values.path("/out/web.jwt")
        let bench = try settled([web: Values.client(web, outputs: [Values.raw("/out/web.jwt")])])
        bench.disk[path] = FileObservation(slots: [.whole: .foreign])
        bench.strange = [path]
        if isAfterARestart {
            try bench.restart(bench.rotation.configuration)
        } else {
            try bench.debounce("/out/web.jwt")
        }
        #expect(try bench.held(in: "/out/web.jwt", .whole) == bench.current(web))
    }

    /// That every byte is the daemon's does not depend on the format that is configured now.
    @Test(arguments: [false, true]) func oneThatWasWrittenIsOursWhateverItsFormatIsMeanwhile(isRestarted: Bool) throws {
        let path = try Values.path("/out/web")
        let whole = try Values.configuration([web: Values.client(web, outputs: [Values.raw("/out/web")])])
        let variable = try Values.configuration([web: Values.client(web, outputs: [Values.env("/out/web", "WEB")])])
        func reload(_ bench: Bench, _ configuration: Configuration) throws {
            if isRestarted { try bench.restart(configuration) } else { bench.reload(configuration) }
            bench.pass(10)
        }
        let bench = try settled([web: Values.client(web, outputs: [Values.raw("/out/web")])])
        // As an environment file it has other lines, and is refused.
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        bench.strange = [path]
        try reload(bench, variable)
        #expect(try bench.view(web).outputs.map(\.error) == [Failure(.outputForeign, at: .path(path)).message])
        bench.disk[path] = FileObservation(slots: [.whole: .foreign])
        try reload(bench, whole)
        #expect(try bench.held(in: "/out/web") == bench.current(web))
        #expect(try bench.view(web).health == .ok)

        // Another program writes there meanwhile.
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        try reload(bench, variable)
        try bench.debounce("/out/web")
        bench.disk[path] = FileObservation(slots: [.whole: .foreign])
        try reload(bench, whole)
        try expectForeign(bench, path)
    }

    /// The remedy is to remove it.
    @Test func oneThatWasWrittenInAnotherFormatIsReplacedOnceItIsGone() throws {
        let path = try Values.path("/out/web")
        let bench = try settled([web: Values.client(web, outputs: [Values.raw("/out/web")])])
        bench.disk[path] = FileObservation(slots: [:], otherLines: true)
        bench.strange = [path]
        try bench.reload([web: Values.client(web, outputs: [Values.env("/out/web", "WEB")])])
        #expect(try bench.view(web).outputs.map(\.error) == [Failure(.outputForeign, at: .path(path)).message])
        (bench.disk, bench.strange) = ([:], [])
        try bench.debounce("/out/web")
        #expect(try bench.held(in: "/out/web", .variable("WEB")) == bench.current(web))
    }

    @Test func oneThatHeldOurVariableIsNotOverwrittenAsAWholeFile() throws {
        let path = try Values.path("/srv/.env")
        let bench = try settled([web: Values.client(web, outputs: [Values.env("/srv/.env", "WEB")])])
        bench.disk[path] = FileObservation(slots: [.whole: .foreign])
        bench.strange = [path]
        try bench.restart(try Values.configuration([web: Values.client(web, outputs: [Values.raw("/srv/.env")])]))
        bench.pass(60)
        try expectForeign(bench, path)
    }

    /// An application that started meanwhile has no secret. After a reboot, applications start after the daemon.
    @Test(arguments: [(false, true), (true, false)])
    func aFileThatWasMissingAtAStartMayHaveBeenMissed(isReboot: Bool, isNotified: Bool) throws {
        let bench = try settled([web: Values.client(web, actions: [Values.exec("/bin/after")])])
        let old = try #require(try bench.current(web))
        bench.disk = [:]
        try bench.restart(bench.rotation.configuration, ofMachine: isReboot)
        #expect(try bench.held(in: "web.jwt") == old)
        #expect(bench.log.contains("run exec /bin/after for web") == isNotified)
        #expect(!bench.log.contains("mint web"))
    }

    /// No application was to read it there yet.
    @Test func aNewOutputNotifiesNoApplicationTwice() throws {
        let bench = try settled([web: Values.client(web, actions: [Values.exec("/bin/after")])])
        var client = try Values.client(web, actions: [Values.exec("/bin/after")])
        client.outputs.append(try Values.raw("other.jwt"))
        try bench.restart(Values.configuration([web: client]), ofMachine: false)
        #expect(bench.log.filter { $0 == "run exec /bin/after for web" }.count <= 1)
    }
}
