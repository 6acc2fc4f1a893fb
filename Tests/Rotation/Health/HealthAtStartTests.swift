import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A client's health before it was tried since the start.
@Suite struct HealthAtStartTests {
    private let web = "web"

    private func published(to: Int64 = 80 * Values.day, signer: Character? = "1") throws -> SecretInfo {
        try Values.issued(1, from: -10 * Values.day, to: to, signer: signer.map(Values.print))
    }

    /// A start that got as far as the held resource.
    private func started(_ entry: ClientConfiguration? = nil, holding held: Resource) throws -> Bench {
        let bench = try Bench([web: try entry ?? Values.client(web)])
        bench.held = [held]
        return bench
    }

    /// What was published earlier may be gone, and a disk that hangs must not look like a recovery at each restart.
    @Test func aClientIsNotOKBeforeEachOfItsOutputsWasRead() throws {
        let name = try Values.name(web)
        let action = Values.exec("/bin/after")
        let (first, other) = (try Values.path("other.jwt"), try Values.path("web.jwt"))
        for (held, unchecked) in [
            (Resource.key(try Values.key()), first), (.record(name), first), (.file(first), first),
            (.file(other), other),
        ] {
            let entry = try Values.client(
                web, outputs: [Values.raw("web.jwt"), Values.raw("other.jwt")], actions: [action])
            let bench = try started(entry, holding: held)
            bench.records[name] = Record(current: try published())
            bench.records[name]?.delivered = [action.id: try published()]
            for file in ["web.jwt", "other.jwt"] { try bench.place(published(), in: file) }
            bench.go()
            #expect(try bench.view(web).health == .degraded, "\(held)")
            #expect(try bench.view(web).reason?.failure == Failure(.notChecked, at: .path(unchecked)), "\(held)")
            #expect(bench.rotation.snapshot(at: bench.now).health == .degraded)
            #expect(!bench.rotation.snapshot(at: bench.now).ready)
            #expect(try bench.view(web).outputs.contains { $0.state == .pending })
            // A start alone raises no alarm.
            bench.release(held)
            #expect(try bench.view(web).health == .ok)
            #expect(!bench.entries.contains { if case .health = $0 { true } else { false } })
        }
    }

    @Test func aClientWithoutOutputsIsNotOKBeforeItsRecordWasRead() throws {
        let name = try Values.name(web)
        let action = Values.exec("/bin/after")
        let bench = try started(Values.client(web, outputs: [], actions: [action]), holding: .record(name))
        bench.records[name] = Record(current: try published())
        bench.records[name]?.delivered = [action.id: try published()]
        bench.go()
        #expect(try bench.view(web).actions.map(\.state) == [.pending])
        #expect(try bench.view(web).reason?.failure == Failure(.notChecked, at: .client(name)))
        bench.release(.record(name))
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aClientIsNotOKBeforeTheAPIOfItsTargetWasAsked() throws {
        let name = try Values.name(web)
        var entry = try Values.client(web)
        let target = PushOutput(target: try #require(TargetName("production")), place: "p")
        entry.targets = [target]
        let bench = try started(entry, holding: .target(target.target))
        bench.records[name] = Record(current: try published())
        bench.records[name]?.pushed = [target: try published()]
        bench.places[target.target] = try published()
        try bench.place(published(), in: "web.jwt")
        bench.go()
        #expect(bench.rotation.snapshot(at: bench.now).ready)
        #expect(try bench.view(web).reason?.failure == Failure(.notChecked, at: .target(target.target)))
        #expect(try bench.view(web).outputs.map(\.state) == [.ok, .pending])
        bench.release(.target(target.target))
        #expect(try bench.view(web).health == .ok)
        #expect(!bench.entries.contains { if case .health = $0 { true } else { false } })
        // A reload asks again, and is no reason for doubt.
        bench.held = [.target(target.target)]
        try bench.reload([web: entry])
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aFaultOfThePublishedSecretIsReportedAtOnce() throws {
        for (secret, code) in [
            (try published(to: 0), Failure.Code.secretExpired), (try published(to: 5 * Values.day), .secretExpiring),
            (try published(signer: nil), .secretUnacceptable),
        ] {
            let bench = try started(holding: .client(try Values.name(web)))
            try bench.place(secret, in: "web.jwt")
            bench.go()
            #expect(try bench.view(web).health == .critical, "\(code)")
            #expect(try bench.view(web).reason?.failure.code == code)
        }
        let bench = try started(holding: .client(try Values.name(web)))
        try bench.place(published(signer: "2"), in: "web.jwt")
        bench.go()
        #expect(try bench.view(web).health == .degraded)
    }

    @Test func aMissingSecretIsOnItsWayForAsLongAsAJobMayTake() throws {
        let bench = try started(holding: .client(try Values.name(web))).started()
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).reason?.failure.code == .notPublished)
        bench.pass(Rotation.overdueAfter.count)
        #expect(try bench.view(web).health == .critical)
        #expect(try bench.view(web).reason?.failure.code == .notResponding)
    }

    @Test func anOutputThatAReloadAddsIsOnItsWay() throws {
        let bench = try started(holding: .file(try Values.path("new.jwt"))).started()
        #expect(try bench.view(web).health == .ok)
        let more = try Values.client(web, outputs: [Values.raw("web.jwt"), Values.raw("new.jwt")])
        try bench.reload([web: more])
        #expect(try bench.view(web).health == .degraded)
        // Not read back yet, so not written either.
        bench.held = []
        let before = bench.rotation.observation(of: try Values.path("new.jwt"))
        #expect(before == nil)
        try bench.failWrites(of: "new.jwt")
        bench.release(.file(try Values.path("new.jwt")))
        // Tried and failed: now the output counts as missing.
        #expect(try bench.view(web).health == .critical)
    }

    /// Its user's writer cannot be reached: for applications the restart has changed nothing.
    @Test(arguments: [false, true])
    func aFileThatCannotBeReadSinceTheStartHoldsWhatWasDeliveredLast(hasAction: Bool) throws {
        let path = try Values.path("/srv/.env")
        let output = Output(path: path, format: .env, slot: .variable("WEB"), owner: "app")
        let entry = try Values.client(web, outputs: [output], actions: hasAction ? [Values.exec("/bin/after")] : [])
        let bench = try Bench([web: entry]).started()
        let first = try #require(try bench.current(web))
        bench.failures = [.file(path): Failure(.unknownUser, at: .path(path))]
        for _ in 0..<2 {
            try bench.restart(bench.rotation.configuration)
            bench.pass(60)
            #expect(try bench.view(web).health == .degraded)
            #expect(try bench.view(web).reason?.failure.code == .unknownUser)
            #expect(try bench.view(web).deliveredExpiresAt == first.expiresAt)
        }
        // The next secret does not get there.
        bench.sleep(70 * Values.day)
        try bench.restart(bench.rotation.configuration)
        bench.pass(60)
        #expect(try bench.current(web) != first)
        #expect(try bench.view(web).health == .degraded)
        #expect(try bench.view(web).deliveredExpiresAt == first.expiresAt)
        bench.sleep(15 * Values.day)
        #expect(try bench.view(web).health == .critical)

        // Nothing was ever delivered.
        let new = try Bench([web: entry])
        new.failures = bench.failures
        new.go()
        new.pass(60)
        #expect(try new.view(web).health == .critical)
        try new.restart(new.rotation.configuration)
        new.pass(60)
        #expect(try new.view(web).health == .critical)
    }

    @Test func aReloadHidesNoFailure() throws {
        let action = Values.exec("/bin/after")
        let entry = try Values.client(web, actions: [action])
        let bench = try Bench([web: entry])
        bench.failures = [.action(action.id): Failure(.actionFailed, at: .action(action.id))]
        bench.go()
        #expect(try bench.view(web).health == .degraded)
        bench.held = [.file(try Values.path("web.jwt"))]
        try bench.reload([web: entry])
        #expect(try bench.view(web).health == .degraded)
    }
}
