import AppleClientSecret
import Config
import Failures
import Foundation
import Model
import Rotation
import StatusAPI
import Testing

@testable import Daemon
@testable import clientsecretd

@Suite struct WordsTests {
    private let now = WallTime(secondsSinceEpoch: 1_795_235_460)

    @Test(
        arguments: [
            ("renewed", expiring, "renewed (sha256:0123456789abcdef), expires in 90 days (2027-02-19T04:31:00Z)"),
            ("delivered", expiring, "delivered (sha256:0123456789abcdef), expires in 90 days (2027-02-19T04:31:00Z)"),
            ("untouched", "", "not due yet, nothing was done"),
            ("failed", #","error":"/x: the disk is full""#, "/x: the disk is full"),
        ] as [(String, String, String)])
    func renewals(result: String, members: String, words: String) throws {
        let json = #"{"client":"web","result":"\#(result)"\#(members)}"#
        let outcome = try RenewalReport.Outcome(json: Array(json.utf8))
        #expect(RenewalWords.line(for: outcome, deliverOnly: false, now: now) == "web: " + words)
        if result == "untouched" {
            #expect(RenewalWords.line(for: outcome, deliverOnly: true, now: now) == "web: nothing was left to repeat")
        }
    }

    private static let expiring = #","fingerprint":"sha256:0123456789abcdef","expires_at":"2027-02-19T04:31:00Z""#

    @Test func checkSaysEachStepThatWouldBeDone() throws {
        let text = """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8}}
            clients:
              app: {outputs: [{path: /out/b}, {path: /out/a}]}
              shop: {outputs: [{path: /out/c}]}
              web: {outputs: [{path: /out/d}]}
            """
        let configuration = try parsed(text).configuration
        let names = configuration.clients.keys.sorted()
        let entry = try #require(configuration.keys.first?.value)
        let claims = Claims(
            issuer: entry.team, keyID: entry.keyID, subject: try #require(ClientID("shop")), now: now,
            lifetime: .maximum)
        let issued = SecretInfo(fingerprint: Fingerprint(leadingBytes: 1), claims: claims, signer: nil)
        let report = CheckReport(
            configuration: configuration,
            secrets: [
                .init(client: names[0], decision: .mint(.missing), outputsToWrite: []),
                .init(
                    client: names[1], decision: .keep(issued, until: now + 86_400),
                    outputsToWrite: [try #require(AbsolutePath("/out/c"))]),
                .init(client: names[2], decision: .wait, outputsToWrite: []),
            ], now: now)
        #expect(
            report.lines == [
                "app: would mint a new secret, because there was no usable secret; "
                    + "it would be valid for 90 days and be renewed 30 days before it expires",
                "  would write /out/a",
                "  would write /out/b",
                "shop: would keep sha256:0000000000000001, which expires in 182 days (2027-05-22T18:56:00Z); "
                    + "renewal in 1 day (2026-11-22T04:31:00Z)",
                "  would write /out/c",
                "web: would do nothing until the problem is fixed",
            ])
        #expect(
            report.json(problems: ["a \"b\""], commands: ["chmod 0640 k"])
                == #"{"clients":[{"client":"app","decision":"mint","reason":"because there was no usable secret","#
                + #""fingerprint":null,"expires_at":null,"renew_at":null,"outputs_to_write":["/out/a","/out/b"]},"#
                + #"{"client":"shop","decision":"keep","reason":null,"fingerprint":"sha256:0000000000000001","#
                + #""expires_at":"2027-05-22T18:56:00Z","renew_at":"2026-11-22T04:31:00Z","outputs_to_write":["/out/c"]},"#
                + #"{"client":"web","decision":"wait","reason":null,"fingerprint":null,"expires_at":null,"#
                + #""renew_at":null,"outputs_to_write":[]}],"problems":["a \"b\""],"commands":["chmod 0640 k"],"trusted_directories":[]}"#
        )
    }

    @Test(arguments: [
        (Failure.Code.keyMissing, CommandExitStatus.unreadable), (.keyUnreadable, .unreadable), (.keyIsRSA, .failed),
    ])
    func aKeyOfAFlagThatCannotBeReadIsNoInput(code: Failure.Code, exit: CommandExitStatus) {
        #expect(CommandFailure(keyNamedByFlag: Failure(code, at: .named("k"))).code == exit)
    }
}
