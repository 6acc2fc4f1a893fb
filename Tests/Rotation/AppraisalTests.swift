import AppleClientSecret
import Testing

@testable import Rotation

/// How published secrets stand when no daemon can be asked.
@Suite struct AppraisalTests {
    /// A secret of `web` as the daemon makes it, in its output, at the given time.
    private func appraise(
        at offset: Int64, _ slots: [String: Sighting?], entry: ClientEntry? = nil, _ evidence: SignatureEvidence? = nil
    ) throws -> Appraisal {
        let configuration = try Values.configuration(["web": entry ?? Values.client("web")])
        var files: [AbsolutePath: Result<Look, Trouble>] = [:]
        for (path, sighting) in slots {
            files[try Values.path(path)] = .success(Look(slots: sighting.map { [.whole: $0] } ?? [:]))
        }
        let appraisals = configuration.appraise(
            files, [try Values.key(): try evidence ?? .key(Values.print("1"))], at: Self.now(offset))
        return try #require(appraisals.first)
    }

    private static func now(_ offset: Int64) -> Now {
        Now(wall: Values.moment(offset), boot: BootTime(milliseconds: 0), kernelSynced: true)
    }

    private func secret(
        _ number: UInt64 = 1, id: String = "com.example.web", keyID: String = "ABC123DEFG", from: Int64 = -60,
        to: Int64 = 90 * Values.day, signer: Character? = "1"
    ) throws -> Sighting {
        .secret(
            try Values.issued(number, id: id, keyID: keyID, from: from, to: to, signer: signer.map(Values.print)))
    }

    @Test func theThresholdsAreTheDaemons() throws {
        let file = ["web.jwt": try secret()]
        for (offset, standing, code) in [
            (0, Standing.ok, nil as Trouble.Code?), (60 * Values.day - 1, .ok, nil),
            (60 * Values.day, .degraded, .renewalOverdue), (80 * Values.day - 1, .degraded, .renewalOverdue),
            (80 * Values.day, .critical, .secretExpiring), (90 * Values.day - 1, .critical, .secretExpiring),
            (90 * Values.day, .critical, .secretExpired),
        ] {
            let appraisal = try appraise(at: offset, file)
            #expect(appraisal.standing == standing, "\(offset)")
            #expect(appraisal.trouble?.code == code, "\(offset)")
            #expect(appraisal.expiresAt == Values.moment(90 * Values.day))
        }
    }

    @Test func whatIsNoSecretOfTheClientIsNone() throws {
        for sighting in [
            nil, .foreign, try secret(id: "com.example.other"), try secret(signer: nil),
        ] as [Sighting?] {
            let appraisal = try appraise(at: 0, ["web.jwt": sighting])
            #expect(appraisal.standing == .critical, "\(String(describing: sighting))")
            #expect(appraisal.trouble?.code == .noSecret)
            #expect(appraisal.expiresAt == nil)
        }
        #expect(try appraise(at: 0, [:]).standing == .critical)
    }

    @Test func withoutTheKeyNothingIsCalledGood() throws {
        let unchecked = try appraise(at: 0, ["web.jwt": try secret(signer: nil)], .some(.none))
        #expect(unchecked.standing == .degraded)
        #expect(unchecked.trouble?.code == .signatureUnchecked)
        // What can be told by the clock alone goes before.
        #expect(try appraise(at: 90 * Values.day, ["web.jwt": secret(signer: nil)], .some(.none)).standing == .critical)
        // By the public half that the state directory remembers it can be told.
        #expect(try appraise(at: 0, ["web.jwt": secret()], .remembered).standing == .ok)
        #expect(try appraise(at: 0, ["web.jwt": secret(signer: nil)], .remembered).standing == .critical)
    }

    /// What a daemon would replace at once is not called good.
    @Test func whatADaemonWouldReplaceIsNotOK() throws {
        let future = Values.moment(61).description
        for (sighting, flaw) in [
            (try secret(keyID: "ZZZZZZZZZZ"), "holds one of key id ZZZZZZZZZZ of team DEF123GHIJ"),
            (try secret(signer: "2"), "holds one of another key of the same id"),
            (try secret(from: 61), "holds one issued in the future, at \(future)"),
            (try secret(to: 15_777_001), "holds one that lasts longer than Apple allows"),
        ] {
            let appraisal = try appraise(at: 0, ["web.jwt": sighting])
            #expect(appraisal.standing == .degraded, "\(flaw)")
            #expect(appraisal.trouble?.code == .notPublished)
            #expect(appraisal.trouble?.detail == "/out/web.jwt \(flaw)")
        }
        #expect(try appraise(at: 0, ["web.jwt": secret(from: 60)]).standing == .ok)
    }

    @Test func theWeakestOfTheOutputsCounts() throws {
        let entry = try Values.client("web", outputs: [try Values.raw("a"), try Values.raw("b")])
        let differing = try appraise(
            at: 0, ["a": try secret(1), "b": try secret(2, to: 50 * Values.day)], entry: entry)
        #expect(differing.standing == .degraded)
        #expect(differing.expiresAt == Values.moment(50 * Values.day))
        #expect(try appraise(at: 0, ["a": try secret(1), "b": nil], entry: entry).standing == .critical)
    }

    @Test func whatMayNotBeReadIsNotKnown() throws {
        let configuration = try Values.configuration(["web": try Values.client("web")])
        let path = try Values.path("web.jwt")
        func appraisal(_ code: Trouble.Code) throws -> Appraisal {
            let files: [AbsolutePath: Result<Look, Trouble>] = [path: .failure(Trouble(code, at: .path(path)))]
            return try #require(configuration.appraise(files, [:], at: Self.now(0)).first)
        }
        #expect(try appraisal(.notReadable).standing == nil)
        // But a file that no application can read either is as good as none.
        #expect(try appraisal(.notARegularFile).standing == .critical)
    }

    @Test func aSecretWithoutAnOutputIsNotKnown() throws {
        let appraisal = try appraise(at: 0, [:], entry: try Values.client("web", outputs: []))
        #expect(appraisal.standing == nil)
        #expect(appraisal.trouble?.code == .noOutputs)
    }
}
