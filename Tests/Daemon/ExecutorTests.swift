import AppleClientSecret
import Digest
import Failures
import Foundation
import Keys
import Linux
import Model
import Outputs
import State
import TestSupport
import Testing

@testable import Daemon

@Suite struct ExecutorTests {
    /// Whatever thread is done first.
    @Test(arguments: [0, 1, 5_000])
    func mapsElementsInTheirOrder(count: Int) throws {
        let executor = try Executor.idle()
        let numbers = Array(0..<count)
        let lane: (Int) -> Lane = { $0.isMultiple(of: 3) ? .state : .probes }
        let found = executor.map(numbers, in: lane) { 2 * $0 }
        #expect(found == numbers.map { 2 * $0 })
    }

    /// It would be stopped, and not start again.
    @Test func aUnitIsNotRestartedThatCouldNotLoadItsSecret() throws {
        let executor = try Executor.idle { unit in
            unit == "app.service" ? Failure(.credentialSocketUnusable, at: .named("/run/s"), remedy: .say("stop")) : nil
        }
        func failure(of verb: Action.UnitVerb, _ unit: String) -> Failure? {
            let action = Action.unit(verb: verb, unit: unit)
            let job = Job(
                id: JobID(number: 1), resource: .action(action.id), work: .run(action, covering: [:]),
                startedAt: BootTime(milliseconds: 0))
            do throws(Failure) { _ = try executor.carryOut(job) } catch { return error }
            return nil
        }
        for verb in [Action.UnitVerb.restart, .start, .reloadOrRestart] {
            let found = failure(of: verb, "app.service")
            #expect(found?.code == .credentialSocketUnusable && found?.detail == "/run/s")
            #expect(found?.place == .action(Action.unit(verb: verb, unit: "app.service").id))
            #expect(found?.remedy?.description == "stop")
            // Nothing is run here.
            #expect(failure(of: verb, "other.service")?.code == .systemError)
        }
        #expect(failure(of: .reload, "app.service")?.code == .systemError)
    }

    /// A state directory that cannot be written to or locked.
    @Test func aRecordIsReadAlsoIfNoneCanBeKept() throws {
        let scratch = try TemporaryDirectory()
        let path = try #require(AbsolutePath(scratch("state")))
        let (web, shop) = (try #require(ClientName("web")), try #require(ClientName("shop")))
        let claims = Claims.sample(1)
        let token = Token(claims.sampleToken(1))
        let issued = SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: nil)
        do {
            let secret = RecordedSecret(Secret(token: token, issued: issued), signerKey: nil)
            try StateDirectory.open(path, as: .current()).keep(RecordWithSecrets(current: secret), of: web)
        }
        try FileManager.default.removeItem(atPath: scratch("state/lock"))
        try scratch.folder("state/lock")
        let access = try StateAccess(
            at: path, as: .current(),
            open: { path, _ in Result { () throws(Failure) in try StateDirectory.open(path, as: .current()) } },
            lost: { _ in })
        let executor = try Executor.idle(state: access)
        let outcome = try executor.recall(web, publishedAt: [])
        guard case .recalledUnkept(let record) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(record.current == issued)
        #expect(try executor.secret(issued).token.fingerprint == token.fingerprint)
        // What it lacks may be elsewhere.
        #expect(throws: Failure.self) { _ = try executor.recall(shop, publishedAt: []) }
    }

    private func key(
        _ id: String, passphrase: KeyConfiguration.Location? = nil
    ) throws -> KeyConfiguration {
        KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID(id)),
            location: .credential("apple-key"), passphrase: passphrase)
    }

    /// systemd copies the file of a credential at a start only. After a reload with another key id, the copy is still the former
    /// key, and a secret that it signs under the new id would be refused.
    @Test func aCredentialSignsUnderNoOtherKeyIDBeforeItIsPassedAgain() throws {
        let scratch = try TemporaryDirectory()
        try scratch.makeKey("apple-key")
        let executor = try Executor.idle(environment: ["CREDENTIALS_DIRECTORY": scratch.path])
        let name = try #require(KeyName("apple"))
        let (old, new) = (try key("OLDKEYID11"), try key("NEWKEYID22"))
        _ = try executor.readKey(name, old)
        let failure = #expect(throws: Failure.self) { _ = try executor.readKey(name, new) }
        #expect(failure?.code == .credentialMissing && failure?.place == .credential("apple-key"))
        #expect(
            failure?.detail
                == "systemd passes credentials only at a start, and what it passed then is the key of OLDKEYID11")
        #expect(failure?.remedy?.description.contains("restart") == true)
        #expect(executor.keyring.signingKey(name) == nil)
        _ = try executor.readKey(name, old)
        #expect(executor.keyring.signingKey(name) != nil)
        // Another key has been passed since.
        try scratch.makeKey("apple-key")
        _ = try executor.readKey(name, new)
        #expect(executor.keyring.signingKey(name) != nil)
    }

    @Test func aPassphraseThatNoLongerFitsMayNotHaveBeenPassedYet() throws {
        let scratch = try TemporaryDirectory()
        try scratch.makeKey("apple-key", ["-aes-256-cbc", "-pass", "pass:right"])
        try scratch.write("wrong", to: "passphrase")
        let executor = try Executor.idle(environment: ["CREDENTIALS_DIRECTORY": scratch.path])
        let name = try #require(KeyName("apple"))
        let entry = try key("ABC123DEFG", passphrase: .credential("passphrase"))
        let failure = #expect(throws: Failure.self) { _ = try executor.readKey(name, entry) }
        #expect(failure?.code == .keyWrongPassphrase)
        #expect(failure?.remedy?.description.contains("systemd passes credentials only at a start") == true)
    }
}
