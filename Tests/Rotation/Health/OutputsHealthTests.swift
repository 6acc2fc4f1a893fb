import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// The health of published secrets when no daemon can be asked.
@Suite struct OutputsHealthTests {
    /// Evaluates `web` at the given time, with these observations of its outputs.
    private func evaluate(
        at offset: Int64, _ slots: [String: SlotObservation?], entry: ClientConfiguration? = nil,
        _ evidence: SignatureEvidence? = nil, current: SecretInfo? = nil, record: Record? = nil,
        isSynchronised: Bool = true
    ) throws -> OutputsHealth {
        let configuration = try Values.configuration(["web": entry ?? Values.client("web")])
        var files: [AbsolutePath: Result<FileObservation, Failure>] = [:]
        for (path, observation) in slots {
            files[try Values.path(path)] = .success(FileObservation(slots: observation.map { [.whole: $0] } ?? [:]))
        }
        let evaluations = try configuration.evaluate(
            files, [Values.key(): evidence ?? .key(Values.print("1"))],
            current: current.map { [try Values.name("web"): $0] } ?? [:],
            records: record.map { [try Values.name("web"): $0] } ?? [:], builtAt: Self.builtAt,
            at: Self.now(offset, isSynchronised))
        return try #require(evaluations.first)
    }

    private static let builtAt = Values.moment(-365 * Values.day)

    private static func now(_ offset: Int64, _ isSynchronised: Bool = true) -> Now {
        Now(wall: Values.moment(offset), boot: BootTime(milliseconds: 0), kernelSynced: isSynchronised)
    }

    private func secret(
        _ number: UInt64 = 1, id: String = "com.example.web", keyID: String = "ABC123DEFG", from: Int64 = -60,
        to: Int64 = 90 * Values.day, signer: Character? = "1"
    ) throws -> SlotObservation {
        .secret(
            try Values.issued(number, id: id, keyID: keyID, from: from, to: to, signer: signer.map(Values.print)))
    }

    @Test func theThresholdsAreTheDaemons() throws {
        let file = ["web.jwt": try secret()]
        for (offset, health, code) in [
            (0, HealthState.ok, nil as Failure.Code?), (60 * Values.day - 1, .ok, nil),
            (60 * Values.day, .degraded, .renewalOverdue), (80 * Values.day - 1, .degraded, .renewalOverdue),
            (80 * Values.day, .critical, .secretExpiring), (90 * Values.day - 1, .critical, .secretExpiring),
            (90 * Values.day, .critical, .secretExpired),
        ] {
            let evaluation = try evaluate(at: offset, file)
            #expect(evaluation.health == health, "\(offset)")
            #expect(evaluation.failure?.code == code, "\(offset)")
            #expect(evaluation.expiresAt == Values.moment(90 * Values.day))
        }
    }

    /// As in the daemon's health: what is wrong is the clock, and no secret is to be renewed because of it.
    @Test func aClockThatIsNotTrustedCondemnsNoSecret() throws {
        let ahead = 16 * 366 * Values.day
        let held = try Values.issued(1, from: -60, to: 90 * Values.day, signer: Values.print("1"))
        for (offset, slot, current, code) in [
            // Behind a secret of ours, and before the program was built.
            (-7_200, try secret(), nil as SecretInfo?, Failure.Code.clockDoubtful),
            (-366 * Values.day, try secret(), nil, .clockBeforeBuild),
            // Ahead, so that the current secret seems to have expired: by 16 years, and by some months just after the start.
            (ahead, try secret(), held, .clockPerhapsAhead), (100 * Values.day, try secret(), held, .clockPerhapsAhead),
        ] {
            let found = try evaluate(at: offset, ["web.jwt": slot], current: current, isSynchronised: false)
            #expect(found.health == .degraded && found.failure?.code == code, "\(offset): \(found)")
            #expect(found.failure?.remedy?.command == nil)
        }
        // A clock that the kernel vouches for condemns them.
        for (offset, code) in [(-7_200, Failure.Code.secretUnacceptable), (100 * Values.day, .secretExpired)] {
            let found = try evaluate(at: offset, ["web.jwt": try secret()], current: held)
            #expect(found.health == .critical && found.failure?.code == code, "\(offset): \(found)")
        }
    }

    /// The same key under another id says nothing while the named one cannot be read.
    @Test func ofAKeyThatCannotBeReadTheIdsAreNotJudged() throws {
        let keys = ["apple": try Values.keyEntry(), "other": try Values.keyEntry(keyID: "HIJ456KLMN")]
        let configuration = try Values.configuration(["web": Values.client("web")], keys: keys)
        let path = try Values.path("web.jwt")
        let files = [path: Result<FileObservation, Failure>.success(FileObservation(slots: [.whole: try secret()]))]
        for (named, health) in [
            (SignatureEvidence.remembered, HealthState.ok), (.key(try Values.print("2")), .critical),
        ] {
            let evaluations = configuration.evaluate(
                files, [try Values.key(): named, try Values.key("other"): .key(try Values.print("1"))],
                builtAt: Self.builtAt, at: Self.now(0))
            #expect(evaluations.first?.health == health, "\(named)")
        }
    }

    /// A renewal of all clients would restart all applications.
    @Test func theRemedyForAnOutputRenewsItsClientOnly() throws {
        for observation in [nil, .foreign, .unusable(.derSignature)] as [SlotObservation?] {
            let remedy = try evaluate(at: 0, ["web.jwt": observation]).failure?.remedy
            #expect(remedy?.command == "clientsecretd renew web")
        }
    }

    /// Such as the file of a template that was edited: the operator has to see that the file is there, but not ours.
    @Test func aFileWithoutTheClientsSecretHoldsNoneAndIsNamed() throws {
        for (observation, code, detail) in [
            (nil, .noSecret, nil), (.foreign, .noSecret, "what it holds is not a client secret"),
            (.unusable(.algorithm), .secretUnacceptable, "it is not signed with ES256"),
            (try secret(id: "com.example.other"), .secretUnacceptable, "it is for client id com.example.other"),
            (try secret(signer: nil), .secretUnacceptable, "it was not signed by the key"),
        ] as [(SlotObservation?, Failure.Code, String?)] {
            let evaluation = try evaluate(at: 0, ["web.jwt": observation])
            #expect(evaluation.health == .critical, "\(String(describing: observation))")
            #expect(evaluation.failure?.code == code)
            #expect(evaluation.failure?.detail == detail)
            #expect(evaluation.expiresAt == nil)
        }
        #expect(try evaluate(at: 0, [:]).health == .critical)
    }

    @Test func withoutTheKeyNothingIsCalledGood() throws {
        let unchecked = try evaluate(at: 0, ["web.jwt": try secret(signer: nil)], .some(.none))
        #expect(unchecked.health == .degraded)
        #expect(unchecked.failure?.code == .signatureUnchecked)
        // Expiry, which the clock alone shows, takes precedence.
        #expect(try evaluate(at: 90 * Values.day, ["web.jwt": secret(signer: nil)], .some(.none)).health == .critical)
        // The public key that the state directory remembers suffices to check the signature.
        #expect(try evaluate(at: 0, ["web.jwt": secret()], .remembered).health == .ok)
        #expect(try evaluate(at: 0, ["web.jwt": secret(signer: nil)], .remembered).health == .critical)
    }

    /// Apple may accept it still.
    @Test func aSecretOfAnotherKeyIsNotOK() throws {
        for (observation, problem) in [
            (try secret(keyID: "ZZZZZZZZZZ", signer: "2"), "is of key id ZZZZZZZZZZ"),
            (try secret(keyID: "ZZZZZZZZZZ", signer: nil), "is of key id ZZZZZZZZZZ"),
            (try secret(signer: "2"), "was not signed by the key that its key id names"),
        ] {
            let evaluation = try evaluate(at: 0, ["web.jwt": observation])
            #expect(evaluation.health == .degraded, "\(problem)")
            #expect(evaluation.failure?.code == .notPublished)
            #expect(evaluation.failure?.detail == "/out/web.jwt holds one that \(problem)")
        }
    }

    /// Another id is wrong only where it is certain which key has signed, and that the configured id is its own.
    @Test func anotherIdOfTheSameKeyIsCritical() throws {
        let file = ["web.jwt": try secret(keyID: "ZZZZZZZZZZ")]
        let evaluation = try evaluate(at: 0, file)
        #expect(evaluation.health == .critical)
        #expect(evaluation.failure?.code == .secretUnacceptable)
        #expect(evaluation.failure?.detail == "it is of key id ZZZZZZZZZZ")
        #expect(try evaluate(at: 0, file, .remembered).health == .degraded)
        // Apple is asked first, and until then the old id may be the right one.
        var verified = try Values.client("web")
        verified.verify = true
        #expect(try evaluate(at: 0, file, entry: verified).health == .degraded)
    }

    @Test func anUnreadableOutputIsUnknown() throws {
        let configuration = try Values.configuration(["web": try Values.client("web")])
        let path = try Values.path("web.jwt")
        func evaluation(_ code: Failure.Code) throws -> OutputsHealth {
            let files: [AbsolutePath: Result<FileObservation, Failure>] = [
                path: .failure(Failure(code, at: .path(path)))
            ]
            return try #require(configuration.evaluate(files, [:], builtAt: Self.builtAt, at: Self.now(0)).first)
        }
        for code in [Failure.Code.notReadable, .outOfDescriptors, .outOfMemory, .outOfTasks, .notResponding] {
            #expect(try evaluation(code).health == nil)
        }
        // A file that no application can read either counts as missing.
        #expect(try evaluation(.notARegularFile).health == .critical)
    }

    /// The application was not notified of the secret in its file.
    @Test func theApplicationsSecretCounts() throws {
        let after = Values.exec("/bin/after")
        let entry = try Values.client("web", actions: [after])
        let old = try Values.issued(1, from: -60, to: 90 * Values.day, signer: Values.print("1"))
        let new = try Values.issued(2, from: 60 * Values.day, to: 150 * Values.day, signer: Values.print("1"))
        for (day, delivered, health, code) in [
            (61, [after.id: new], HealthState.ok, nil as Failure.Code?),
            (61, [after.id: old], .degraded, .notDelivered),
            (61, [:], .degraded, .notDelivered), (81, [after.id: old], .critical, .notDelivered),
            (91, [after.id: old], .critical, .notDelivered),
            (91, [ActionID("exec /bin/former"): old], .critical, .notDelivered),
        ] as [(Int64, [ActionID: SecretInfo], HealthState, Failure.Code?)] {
            var record = Record(current: new)
            record.delivered = delivered
            let found = try evaluate(
                at: day * Values.day, ["web.jwt": .secret(new)], entry: entry, record: record)
            #expect(found.health == health && found.failure?.code == code, "\(day): \(found)")
            #expect(found.secret == (delivered.values.first ?? new))
            // As the daemon's performance data: without a delivery there is none.
            #expect(found.expiresAt == delivered.values.first?.expiresAt)
        }
        var owed = Record(current: new)
        owed.delivered = [after.id: new]
        owed.owed = [after.id]
        owed.failed = [after.id: "it exited with 3"]
        let failure = try evaluate(at: 61 * Values.day, ["web.jwt": .secret(new)], entry: entry, record: owed).failure
        #expect(failure?.code == .notDelivered && failure?.detail == "it exited with 3")
    }

    /// Each action notifies another application.
    @Test func theFirstToExpireOfTheDeliveredSecretsCounts() throws {
        let actions = [Values.exec("/bin/a"), Values.exec("/bin/b")]
        let entry = try Values.client("web", actions: actions)
        let old = try Values.issued(1, from: -60, to: 90 * Values.day, signer: Values.print("1"))
        let new = try Values.issued(2, from: 60 * Values.day, to: 150 * Values.day, signer: Values.print("1"))
        for (delivered, expiry) in [
            ([actions[0].id: new], nil), ([actions[0].id: new, actions[1].id: old], old.expiresAt),
            ([actions[0].id: new, actions[1].id: new], new.expiresAt),
        ] as [([ActionID: SecretInfo], WallTime?)] {
            var record = Record(current: new)
            record.delivered = delivered
            let file = ["web.jwt": SlotObservation.secret(new)]
            let found = try evaluate(at: 61 * Values.day, file, entry: entry, record: record)
            #expect(found.expiresAt == expiry)
        }
        // Without actions, applications read what is there.
        let found = try evaluate(
            at: 61 * Values.day, ["web.jwt": .secret(new)], entry: Values.client("web"), record: Record(current: new))
        #expect(found.expiresAt == new.expiresAt)
    }

    /// What was pushed is known from the state directory.
    @Test func aSecretBehindAnAPIIsJudged() throws {
        var entry = try Values.client("web", outputs: [])
        let target = PushOutput(target: try #require(TargetName("production")), place: "p")
        entry.targets = [target]
        let secret = try Values.issued(1, from: -60, to: 90 * Values.day, signer: Values.print("1"))
        let refused = Record.PlaceFailure(.pushCredentialsRefused, "it answered 401")
        func found(_ day: Int64, _ pushed: [PushOutput: SecretInfo], isRefused: Bool = false) throws -> OutputsHealth {
            var record = Record(current: secret)
            record.pushed = pushed
            if isRefused { record.failing = [target: refused] }
            return try evaluate(at: day * Values.day, [:], entry: entry, record: record)
        }
        #expect(try found(1, [target: secret]).health == .ok)
        #expect(try found(61, [target: secret]).failure?.code == .renewalOverdue)
        #expect(try found(81, [target: secret]).health == .critical)
        for pushed in [[:], [target: secret]] as [[PushOutput: SecretInfo]] {
            let refused = try found(1, pushed, isRefused: true)
            #expect(refused.health == .degraded && refused.failure?.code == .pushCredentialsRefused, "\(refused)")
        }
        #expect(try found(81, [target: secret], isRefused: true).health == .critical)
        #expect(try found(1, [:]).failure?.code == .notPublished)
        #expect(try found(1, [:]).failure?.detail == "target \"production\"")
        #expect(try found(1, [:]).health == .degraded, "what it holds is not known")
    }

    /// A clock that was ahead has minted it. The right secret is in the file.
    @Test func aSecretOutsideFilesThatAppleRefusesIsCritical() throws {
        let after = Values.exec("/bin/after")
        var entry = try Values.client("web", actions: [after])
        let right = try Values.issued(1, signer: Values.print("1"))
        let ahead = try Values.issued(2, from: 20 * Values.day, to: 110 * Values.day, signer: Values.print("1"))
        var record = Record(current: right)
        func found() throws -> OutputsHealth {
            try evaluate(at: Values.day, ["web.jwt": .secret(right)], entry: entry, record: record)
        }
        record.delivered = [after.id: ahead]
        #expect(try found().health == .critical)
        #expect(try found().failure?.code == .notDelivered)
        #expect(
            try found().failure?.detail
                == "applications may still have a secret that was issued in the future, at \(ahead.issuedAt)")
        record.failed = [after.id: "it exited with 3"]
        #expect(try found().failure?.detail == "it exited with 3")
        record.delivered = [after.id: right]
        #expect(try found().health == .ok)

        let target = PushOutput(target: try #require(TargetName("production")), place: "p")
        entry.targets = [target]
        record.pushed = [target: ahead]
        #expect(try found().health == .critical)
        #expect(try found().failure?.code == .notPublished)
        #expect(try found().failure?.detail == "target \"production\"")
        record.pushed = [target: right]
        #expect(try found().health == .ok)
    }

    /// Its push fails since the renewal. The action has run.
    @Test func theSecretBehindAnAPICountsAlsoAfterTheActionsHaveRun() throws {
        let after = Values.exec("/bin/after")
        var entry = try Values.client("web", actions: [after])
        let target = PushOutput(target: try #require(TargetName("production")), place: "p")
        entry.targets = [target]
        let old = try Values.issued(1, signer: Values.print("1"))
        let new = try Values.issued(2, from: Values.day, to: 91 * Values.day, signer: Values.print("1"))
        var record = Record(current: new)
        record.delivered = [after.id: new]
        for (pushed, expiry) in [([:], nil), ([target: old], old.expiresAt), ([target: new], new.expiresAt)]
            as [([PushOutput: SecretInfo], WallTime?)]
        {
            record.pushed = pushed
            let found = try evaluate(
                at: 2 * Values.day, ["web.jwt": .secret(new)], entry: entry, record: record)
            #expect(found.expiresAt == expiry)
        }
    }

    /// Only the daemon knows the turn or the rollout that the action waits for. But it does not wait if no record shows what
    /// applications hold.
    @Test func aReceivedSecretWaitsOnlyForApplicationsWithAKnownOne() throws {
        let entry = try Values.receiver(SourceConfiguration(.store))
        let tell = try #require(entry.onChange.first?.id)
        let old = try Values.issued(1, signer: Values.print("1"))
        let new = try Values.issued(2, from: Values.day, to: 91 * Values.day, signer: Values.print("1"))
        for (delivered, health) in [
            ([tell: old], .ok), ([ActionID("exec /bin/former"): old], .ok), ([.unknown: new], .degraded),
            ([:], .degraded),
        ] as [([ActionID: SecretInfo], HealthState)] {
            var record = Record(current: new)
            record.delivered = delivered
            let found = try evaluate(
                at: 2 * Values.day, ["web.jwt": .secret(new)], entry: entry, record: record)
            #expect(found.health == health, "\(delivered)")
            let code: Failure.Code? = health == .ok ? nil : .notDelivered
            #expect(found.failure?.code == code)
        }
    }

    @Test func aCredentialIsJudgedByTheStateDirectory() throws {
        let after = Values.exec("/bin/after")
        let entry = try Values.client(
            "web", outputs: [], actions: [after], credential: ServedCredential(unit: "app.service", name: "secret"))
        func found(_ day: Int64, signer: Character? = "1", isGiven: Bool = true) throws -> OutputsHealth {
            let secret = try Values.issued(1, from: -60, to: 90 * Values.day, signer: signer.map(Values.print))
            var record = Record(current: secret)
            if isGiven { record.delivered = [after.id: secret] }
            return try evaluate(at: day * Values.day, [:], entry: entry, record: record)
        }
        for (day, health, code) in [
            (1, .ok, nil), (61, .degraded, .renewalOverdue),
            (81, .critical, .secretExpiring),
            (91, .critical, .secretExpired),
        ] as [(Int64, HealthState, Failure.Code?)] {
            let found = try found(day)
            #expect(found.health == health && found.failure?.code == code, "\(day): \(found)")
            #expect(found.expiresAt == Values.moment(90 * Values.day))
        }
        #expect(try found(1, isGiven: false).failure?.code == .notDelivered)
        let foreign = try found(1, signer: "2")
        #expect(foreign.health == .degraded && foreign.failure?.code == .notPublished, "\(foreign)")
    }

    @Test func aSecretWithoutAnOutputIsNotKnown() throws {
        let evaluation = try evaluate(at: 0, [:], entry: try Values.client("web", outputs: []))
        #expect(evaluation.health == nil)
        #expect(evaluation.failure?.code == .noOutputs)
        var pushing = try Values.client("web", outputs: [])
        pushing.targets = [PushOutput(target: try #require(TargetName("production")), place: "p")]
        for record in [nil, Record()] {
            let unrecorded = try evaluate(at: 0, [:], entry: pushing, record: record)
            #expect(unrecorded.health == nil)
            #expect(unrecorded.failure?.detail == "there is no record of a push to target \"production\"")
            #expect(unrecorded.failure?.remedy?.description.contains("run --once") == true)
        }
    }
}
