import AppleClientSecret
import Failures
import Foundation
import Keys
import Linux
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// What the configuration and the keys that can be read tell of a secret's ids.
@Suite struct OfflineEvaluationTests {
    private let directory: TemporaryDirectory

    /// With two different keys: `ABC123DEFG`, of the client, and `HIJ456KLMN`.
    init() throws {
        directory = try TemporaryDirectory()
        try directory.folder("out", mode: 0o700)
        for name in ["ABC123DEFG", "HIJ456KLMN", "stranger"] { try directory.makeKey(name) }
    }

    private func source(
        verify: Bool, isSpareReadable: Bool, format: String = "raw"
    ) throws -> ConfigurationSource {
        let spare = isSpareReadable ? "HIJ456KLMN" : "missing"
        let path = try directory.write(
            """
            keys:
              k: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: \(directory("ABC123DEFG"))}
              spare: {team_id: DEF123GHIJ, key_id: HIJ456KLMN, file: \(directory(spare))}
            clients:
              web: {client_id: com.example.web, key: k, verify: \(verify), outputs: [{path: \(directory("out/web.jwt")), format: \(format)}]}
            """, to: "c.yaml")
        return ConfigurationSource(path: path, environment: ["STATE_DIRECTORY": directory("state")])
    }

    private func token(of key: String, _ client: String, _ keyID: String) throws -> [UInt8] {
        let entry = KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID(keyID)),
            location: .file(try #require(AbsolutePath(directory(key)))))
        let minted = try KeyLoader(as: .current(), credentials: nil).load(entry).mint(.sample(of: client, keyID: keyID))
        return minted.token.withBytes { Array($0) }
    }

    @Test(arguments: [
        (signer: "ABC123DEFG", states: "ABC123DEFG", verify: false, isSpareReadable: true, isRefused: false),
        ("ABC123DEFG", "ZZZZZZZZZZ", false, true, true), ("ABC123DEFG", "HIJ456KLMN", false, true, true),
        // Until Apple was asked, they may be the right ones.
        ("ABC123DEFG", "ZZZZZZZZZZ", true, true, false),
        // The key that it names may be the same one.
        ("ABC123DEFG", "HIJ456KLMN", false, false, false), ("stranger", "ZZZZZZZZZZ", false, true, false),
    ])
    func idsAreRefusedWhereTheSignerIsKnown(
        signer: String, states: String, verify: Bool, isSpareReadable: Bool, isRefused: Bool
    ) throws {
        let source = try source(verify: verify, isSpareReadable: isSpareReadable)
        let loaded = try source.load().get()
        let output = (path: try #require(AbsolutePath(directory("out/web.jwt"))), variable: nil as String?)
        let refusal = OfflineEvaluation.refusal(
            ofIdsOf: try token(of: signer, "com.example.web", states), in: output, by: loaded, from: source)
        #expect((refusal != nil) == isRefused, "\(String(describing: refusal))")
    }

    /// What `health` without a daemon says of a secret that is good.
    private func health(
        format: String = "raw", more: (String) -> String = { $0 }, breaking: () throws -> Void = {}
    ) throws -> OutputsHealth {
        let source = try source(verify: false, isSpareReadable: true, format: format)
        let entry = KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
            location: .file(try #require(AbsolutePath(directory("ABC123DEFG")))))
        let claims = Claims(
            issuer: entry.team, keyID: entry.keyID, subject: try #require(ClientID("com.example.web")),
            now: Now.current.wall, lifetime: .standard)
        let minted = try KeyLoader(as: .current(), credentials: nil).load(entry).mint(claims)
        try directory.write(more(minted.token.withBytes { String(decoding: $0, as: UTF8.self) }), to: "out/web.jwt")
        try breaking()
        let loaded = try source.load().get()
        let published = OfflineEvaluation(of: loaded, from: source).health()
        let reasons = OfflineReasons(of: loaded, from: source, socket: directory("socket"), unit: nil)
        let found = try #require(reasons.judge(published).first)
        #expect(found.secret?.fingerprint == minted.token.fingerprint)
        return found
    }

    /// The secret is good, but the daemon could not replace it.
    @Test func anObjectWithOtherMembersHoldsTheSecretAndIsNotOurs() throws {
        let found = try health(format: "json", more: { #"{"client_secret": "\#($0)", "redirect_uris": []}"# })
        #expect(found.health == .degraded && found.failure?.code == .outputForeign, "\(found)")
    }

    /// As the daemon is, and for its reason: without it the first sign would be an overdue renewal.
    @Test(
        arguments: [
            ("nothing", nil), ("no key", .keyMissing), ("a key for all", .keyNotGuarded), ("no PEM", .keyNotPEM),
            ("a public key", .keyIsPublic), ("an open directory", .unguardedDirectory), ("no state", .stateUnusable),
            ("no place for metrics", .metricsFileUnwritable),
        ] as [(String, Failure.Code?)])
    func whatTheDaemonCouldNotUseIsNamed(_ what: String, _ code: Failure.Code?) throws {
        let key = "ABC123DEFG"
        let found = try health(breaking: {
            switch what {
            case "no key": try FileManager.default.removeItem(atPath: directory(key))
            case "a key for all": try directory.permit(0o644, key)
            case "no PEM": try directory.write("rubbish", to: key)
            case "a public key":
                let made = try run(["openssl", "pkey", "-in", directory(key), "-pubout"])
                try directory.write(made.output, to: key)
            case "an open directory": try directory.permit(0o777, "out")
            case "no state": try directory.write("", to: "state")
            case "no place for metrics":
                let text = try directory.read("c.yaml")
                try directory.write(text + "\nmetrics_file: \(directory("none/m.prom"))\n", to: "c.yaml")
            default: break
            }
        })
        #expect(found.health == (code == nil ? HealthState.ok : .degraded), "\(found)")
        #expect(found.failure?.code == code, "\(found)")
    }

    /// They are there only while the service runs.
    @Test func aCredentialThatIsNotThereIsNotKnownToBeMissing() throws {
        let found = try health(breaking: {
            let text = try directory.read("c.yaml")
            try directory.write(
                text.replacing(
                    "key_id: ABC123DEFG, file: \(directory("ABC123DEFG"))", with: "key_id: ABC123DEFG, credential: k"),
                to: "c.yaml")
        })
        #expect(found.failure?.code == .signatureUnchecked, "\(found)")
    }

    @Test func anOutputHoldsNoSecretOfAnotherClient() throws {
        let source = try source(verify: false, isSpareReadable: true)
        let loaded = try source.load().get()
        let token = try token(of: "ABC123DEFG", "com.example.other", "ABC123DEFG")
        let output = (path: try #require(AbsolutePath(directory("out/web.jwt"))), variable: nil as String?)
        #expect(
            OfflineEvaluation.refusal(ofIdsOf: token, in: output, by: loaded, from: source)
                == .otherClient(try #require(ClientID("com.example.other"))))
        // In no output it may be anyone's.
        #expect(OfflineEvaluation.refusal(ofIdsOf: token, in: nil, by: loaded, from: source) == nil)
    }
}
