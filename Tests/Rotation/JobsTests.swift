import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// A job that does not end blocks only its own resource, which is reported as not responding after 30 s.
@Suite struct JobsTests {
    private let web = "web"

    private func pair(_ entry: ClientConfiguration? = nil, once: Bool = false) throws -> Bench {
        try Bench(
            try Values.configuration(
                [web: try entry ?? Values.client(web), "native": Values.client("native", key: "spare")],
                keys: Values.withSpareKey()),
            once: once)
    }

    /// What hangs, the failure that is shown, and whether the client's secret can be published all the same.
    private func cases() throws -> [(Resource, Failure, Bool)] {
        [
            (.key(try Values.key()), Failure(.notResponding, at: .key(try Values.key())), false),
            (.record(try Values.name(web)), Failure(.notResponding, at: .client(try Values.name(web))), true),
            (.client(try Values.name(web)), Failure(.notResponding, at: .client(try Values.name(web))), false),
            (
                .file(try Values.path("web.jwt")), Failure(.notResponding, at: .path(try Values.path("web.jwt"))), false
            ),
        ]
    }

    @Test func othersGoOnAndReadinessComesAfterThirtySeconds() throws {
        for (resource, failure, isPublished) in try cases() {
            let bench = try pair()
            bench.held = [resource]
            bench.go()
            #expect(try bench.view("native").health == .ok, "\(resource)")
            bench.pass(29)
            #expect(!bench.rotation.snapshot(at: bench.now).ready, "\(resource)")
            bench.pass(1)
            #expect(bench.rotation.snapshot(at: bench.now).ready, "\(resource)")
            #expect(try bench.view(web).reason?.failure == failure, "\(resource)")
            #expect(try bench.view(web).reason?.since == Values.moment(0), "\(resource)")
            #expect(try bench.view(web).health != .ok, "\(resource)")
            #expect(try (bench.held(in: "web.jwt") != nil) == isPublished, "\(resource)")
        }
    }

    @Test func aJobThatEndsLateIsTakenInLikeAnyOther() throws {
        for (resource, _, _) in try cases() {
            let bench = try pair(try Values.client(web, actions: [Values.exec("/bin/after")]))
            bench.held = [resource]
            bench.go()
            bench.pass(100)
            bench.release(resource)
            #expect(try bench.view(web).health == .ok, "\(resource)")
            #expect(bench.log.filter { $0.hasPrefix("run") } == ["run exec /bin/after for web"], "\(resource)")
        }
    }

    @Test func noSecondJobStartsOnAResourceThatDoesNotRespond() throws {
        let bench = try pair()
        let file = Resource.file(try Values.path("web.jwt"))
        bench.held = [file]
        bench.go()
        bench.pass(3600)
        try bench.debounce("web.jwt")
        #expect(bench.log.filter { $0 == "observe web.jwt" }.count == 1)
        #expect(!bench.log.contains("publish web.jwt"))
    }

    @Test func noActionRunsForAFileThatDoesNotAnswer() throws {
        let bench = try pair().started()
        bench.held = [.file(try Values.path("web.jwt"))]
        let acting = try Values.client(web, actions: [Values.exec("/bin/after")])
        try bench.reload([web: acting])
        bench.pass(60)
        #expect(!bench.log.contains { $0.hasPrefix("run") })
        bench.release(.file(try Values.path("web.jwt")))
        #expect(bench.log.last { $0.hasPrefix("run") } == "run exec /bin/after for web")
    }

    @Test func aSharedFileWaitsNoLongerForAClientWhoseKeyDoesNotRespond() throws {
        let bench = try Bench(
            try Values.configuration(Values.sharingAFile(keyOfNative: "spare"), keys: Values.withSpareKey()))
        bench.held = [.key(try Values.key("spare"))]
        bench.go()
        bench.pass(30)
        #expect(try bench.held(in: "/srv/.env", .variable("WEB")) == bench.current(web))
        #expect(try bench.view(web).health == .ok)
    }

    @Test func aRenewalOfWhatDoesNotRespondIsAnswered() throws {
        let bench = try pair().started()
        let path = try Values.path("web.jwt")
        bench.held = [.file(path)]
        bench.ask(.renew(.init()))
        #expect(bench.answer() == nil)
        bench.pass(30)
        let outcomes = [
            try bench.renewed("native"), try bench.failed(web, Failure(.notResponding, at: .path(path))),
        ]
        #expect(bench.answer() == .renewed(outcomes))
    }

    /// It may be stopped: its file's disk is not blamed.
    @Test func aWriterThatDoesNotAnswerIsNamed() throws {
        let path = try Values.path("/srv/app/.env")
        var output = try Values.env("/srv/app/.env", "SECRET")
        output.owner = "app"
        let bench = try pair(try Values.client(web, outputs: [output])).started()
        bench.held = [.file(path)]
        try bench.debounce("/srv/app/.env")
        bench.pass(40)
        let view = try bench.view(web)
        #expect(view.outputs.map(\.state) == [.notResponding])
        let failure = try #require(view.reason?.failure)
        #expect(failure.code == .writerSilent && failure.message.contains("app (timed out)"))
        #expect(failure.remedy?.description.contains("see what it does") == true)
        // The writer's client reports the same once it gives up.
        bench.fail(.file(path), failure)
        #expect(try bench.view(web).outputs.map(\.state) == [.notResponding])
        #expect(try bench.view(web).reason?.failure == failure)
    }

    @Test func aConfigurationThatCannotBeReadIsAnswered() throws {
        let bench = try pair().started()
        bench.held = [.configuration]
        bench.ask(.reload)
        bench.pass(30)
        let named = Failure.Place.named("/etc/clientsecretd/clientsecretd.yaml")
        #expect(bench.answer() == .unread(diagnostics: [Failure(.notResponding, at: named).sentence]))
    }

    @Test func onceEndsAlthoughSomethingDoesNotRespond() throws {
        for (resource, _, _) in try cases() {
            let bench = try pair(once: true)
            bench.held = [resource]
            bench.go()
            #expect(!bench.lastStep.ended, "\(resource)")
            bench.pass(30)
            #expect(bench.lastStep.ended, "\(resource)")
        }
    }

    @Test func aClientThatIsRemovedWhileItsJobsRunIsForgotten() throws {
        let native = try Values.name("native")
        let file = Resource.file(try Values.path("native.jwt"))
        for held in [Resource.client(native), .record(native), file, .key(try Values.key())] {
            let bench = try Bench([web: Values.client(web), "native": Values.client("native")])
            bench.held = [held]
            bench.go()
            try bench.reload([web: Values.client(web)])
            bench.release(held)
            #expect(try bench.view(web).health == .ok, "\(held)")
            #expect(bench.answer() == .reloaded(unserved: []), "\(held)")
            #expect(bench.rotation.isIdle, "\(held)")
            #expect(bench.rotation.index[native] == nil, "\(held)")
            #expect(bench.rotation.failures.isEmpty, "\(held)")
        }
    }

    @Test func aFailureOfARemovedKeyOrFileConcernsNoClient() throws {
        let spare = try Values.key("spare")
        let path = try Values.path("native.jwt")
        for held in [Resource.key(spare), .file(path)] {
            let bench = try pair()
            bench.held = [held]
            bench.go()
            try bench.reload([web: Values.client(web)])
            bench.failures = [held: Failure(.ioError, at: .path(path))]
            bench.forget()
            bench.release(held)
            #expect(bench.rotation.failures.isEmpty, "\(held)")
            #expect(!bench.rotation.keys.names.contains(spare), "\(held)")
            #expect(bench.entries.isEmpty, "\(held)")
        }
    }

    /// A reload has everything tried again, and what failed counts as failing until that has succeeded.
    @Test func aReloadEndsNoFailure() throws {
        let action = Values.exec("/bin/after")
        let entry = try Values.client(web, actions: [action])
        let path = try Values.path("web.jwt")
        for (resource, failure) in [
            (Resource.key(try Values.key()), Failure(.keyMissing, at: .key(try Values.key()))),
            (.file(path), Failure(.ioError, at: .path(path))),
            (.probe(action.id), Failure(.unitUnknown, at: .action(action.id))),
        ] {
            let bench = try pair(entry).started()
            bench.failures[resource] = failure
            try bench.reload([web: entry])
            let before = try bench.view(web)
            #expect(before.health != .ok, "\(resource)")
            #expect(before.reason?.failure == failure, "\(resource)")
            bench.failures = [:]
            bench.held = [resource]
            bench.pass(10)
            try bench.reload([web: entry], 2)
            bench.pass(5)
            let after = try bench.view(web)
            #expect(after.health == before.health, "\(resource)")
            #expect(after.reason?.failure == failure, "\(resource)")
            #expect(after.reason?.since == before.reason?.since, "\(resource)")
            bench.release(resource)
            #expect(try bench.view(web).health == .ok, "\(resource)")
        }
    }
}
