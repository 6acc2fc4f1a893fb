import AppleClientSecret
import Failures
import Foundation
import Model
import TestSupport
import Testing

@testable import StatusAPI

struct StatusDocumentTests {
    @Test func jsonIsTheContracts() throws {
        let reason = try Samples.diskFull().sentence
        let remedy = try #require(try Samples.diskFull().failure.remedy?.description)
        let failure =
            #""failure":{"code":"disk_full","message":\#(quoted(try Samples.diskFull().message)),"#
            + #""since":"\#(try Samples.diskFull().since)","next_attempt":\#(try Samples.diskFull().nextAttempt.map { "\"\($0)\"" } ?? "null"),"#
            + #""remedy":\#(quoted(remedy)),"command":null},"#
        let expected =
            #"{"version":"0.1.0-test","state":"degraded","reason":\#(quoted(reason)),\#(failure)"started_at":"2026-11-18T09:06:40Z","#
            + #""config":{"path":"/etc/clientsecretd/clientsecretd.yaml","loaded_at":"2026-11-18T09:06:40Z","error":null},"#
            + #""clients":[{"name":"api","client_id":"com.example.api","kind":"sign_in","team_id":"DEF123GHIJ","key_id":"ABC123DEFG","#
            + #""state":"degraded","reason":\#(quoted(reason)),\#(failure)"issued_at":null,"expires_at":null,"#
            + #""delivered_expires_at":null,"renew_at":null,"fingerprint":null,"renewals":0,"consecutive_failures":2,"#
            + #""last_error":"no \"space\"\n\u001b[31m","delivered":false,"#
            + #""outputs":[{"path":"/srv/app/.env","format":"env","state":"not_responding","written_at":null,"#
            + #""error":"no space"}],"#
            + #""actions":[{"action":"exec /bin/true 'a b'","state":"pending","ran_at":null,"error":null}],"verification":null,"source":null},"#
            + #"{"name":"web","client_id":"com.example.web","kind":"sign_in","team_id":"DEF123GHIJ","key_id":"ABC123DEFG","#
            + #""state":"ok","reason":null,"issued_at":"2026-11-18T09:06:40Z","expires_at":"2027-02-16T09:07:40Z","#
            + #""delivered_expires_at":"2027-02-16T09:07:40Z","renew_at":"2027-01-17T09:06:40Z","#
            + #""fingerprint":"sha256:0123456789abcdef","renewals":3,"consecutive_failures":0,"last_error":null,"#
            + #""delivered":true,"#
            + #""outputs":[{"path":"/run/clientsecretd/out/web.jwt","format":"raw","state":"ok","#
            + #""written_at":"2026-11-18T09:06:41Z","error":null}],"#
            + #""actions":[{"action":"restart myapp.service","state":"ok","ran_at":"2026-11-18T09:06:42Z","error":null}],"#
            + #""verification":null,"source":{"kind":"path","place":"/in/web.jwt","state":"stale","since":"2026-11-18T09:06:42Z"}}]}"#
        var snapshot = try Samples.snapshot()
        snapshot.clients[1].source = SourceView(
            place: "/in/web.jwt", state: .stale, since: try #require(WallTime(rfc3339: "2026-11-18T09:06:42Z")))
        #expect(snapshot.json == expected)
        #expect(try Snapshot(json: Array(expected.utf8)).json == expected)
    }

    @Test func aPlaceBehindAnAPIIsReadBack() throws {
        var snapshot = try Samples.snapshot()
        let target = try #require(TargetName("production"))
        for (verified, deployed, words) in [
            (nil, false, #""verified":null,"deployed":false}"#), (true, nil, #""verified":true}"#),
            (false, nil, #""verified":false}"#),
        ] as [(Bool?, Bool?, String)] {
            var output = OutputView(
                target: target, verified: verified, state: .pending, writtenAt: nil, error: "it answered 503")
            output.deployed = deployed
            snapshot.clients[1].outputs = [output]
            let json = snapshot.json
            #expect(
                json.contains(
                    #"{"path":null,"target":"production","format":null,"state":"pending","written_at":null,"#
                        + #""error":"it answered 503",\#(words)"#), "\(json)")
            let read = try Snapshot(json: Array(json.utf8))
            #expect(read.clients[1].outputs == [output])
            #expect(read.json == json)
        }
    }

    /// Another failure may be why the client fails.
    @Test func eachFailureHasItsOwnRemedy() throws {
        var snapshot = try Samples.snapshot()
        let failure = Failure(
            .diskFull, at: .path(try #require(AbsolutePath("/srv/app/.env"))),
            remedy: .reported("make room: rm /srv/x", command: "rm /srv/x"))
        snapshot.clients[1].outputs[0].failure = failure
        snapshot.clients[1].actions[0].failure = failure
        let json = snapshot.json
        let members = #""remedy":"make room: rm /srv/x","command":"rm /srv/x""#
        #expect(json.ranges(of: members).count == 2, "\(json)")
        let read = try Snapshot(json: Array(json.utf8))
        #expect(read.clients[1].outputs[0].remedy == failure.remedy)
        #expect(read.clients[1].actions[0].remedy == failure.remedy)
        #expect(read.clients[0].outputs[0].remedy == nil)
        #expect(read.json == json)
    }

    @Test func whatAnActionWaitsForIsReadBack() throws {
        var snapshot = try Samples.snapshot()
        for wait in ActionView.Wait.allCases {
            snapshot.clients[1].actions[0].state = .pending
            snapshot.clients[1].actions[0].waitsFor = wait
            let json = snapshot.json
            #expect(json.contains(#""error":null,"waits_for":"\#(wait.rawValue)"}"#), "\(json)")
            #expect(try Snapshot(json: Array(json.utf8)).clients[1].actions == snapshot.clients[1].actions)
        }
    }

    @Test func aReasonMayLackItsParts() throws {
        let start =
            #"{"version":"1","state":"ok","started_at":"2026-11-21T04:31:00Z","clients":[],"#
            + #""config":{"path":"/x","loaded_at":"2026-11-21T04:31:00Z","error":null}"#
        func report(_ members: String) throws -> ReasonReport? {
            try Snapshot(json: Array("\(start)\(members)}".utf8)).reasonReport
        }
        let failure = FailureReport(
            code: "c", message: "m", since: WallTime(secondsSinceEpoch: 0), nextAttempt: nil, remedy: nil, command: nil)
        let parts = #","failure":{"code":"c","message":"m","since":"1970-01-01T00:00:00Z","remedy":null}"#
        #expect(try report("") == nil)
        #expect(try report(#","reason":"r""#) == ReasonReport(sentence: "r", failure: nil))
        #expect(try report(#","reason":"r""# + parts) == ReasonReport(sentence: "r", failure: failure))
    }

    @Test(arguments: [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[]", "expected an object"),
        ("{}", "'version' is missing"),
        (#"{"version":1}"#, "'version': expected a string"),
        (
            #"{"version":"1","state":"ok","reason":null,"started_at":"yesterday"}"#,
            "'started_at': expected a time such as 2026-11-21T04:31:00Z"
        ),
        (
            #"{"version":"1","state":"ok","reason":null,"started_at":"2026-02-30T00:00:00Z"}"#,
            "'started_at': expected a time such as 2026-11-21T04:31:00Z"
        ),
        (
            #"{"version":"1","state":"ok","reason":null,"started_at":"2026-11-21T04:31:00Z","#
                + #""config":{"path":"/x","loaded_at":"2026-11-21T04:31:00Z","error":null},"clients":[{"name":null}]}"#,
            "'clients[0].name': expected a string, found null"
        ),
        (#"{"version":"1","state":"purple"}"#, "'state': expected a value that this version knows"),
        (
            #"{"version":"1","state":"ok","started_at":"2026-11-21T04:31:00Z","#
                + #""config":{"path":"/x","loaded_at":"2026-11-21T04:31:00Z"},"clients":[{"name":"a\u001b[2J"}]}"#,
            "'clients[0].name': expected a value that this version knows"
        ),
    ])
    func anotherTextIsExplained(json: String, what: String) {
        #expect(throws: StatusClientError.malformed(what: what)) { try Snapshot(json: Array(json.utf8)) }
    }

    @Test func momentsAreReadAsTheyAreWritten() throws {
        var random = SeededGenerator()
        let seed = random.seed
        for _ in 0..<2000 {
            let moment = WallTime(secondsSinceEpoch: .random(in: -62_167_219_200..<253_402_300_800, using: &random))
            #expect(WallTime(rfc3339: moment.description) == moment, "seed \(seed)")
        }
        for seconds in [Int64.min, .max, 0, -1, 253_402_300_799, 253_402_300_800] {
            let moment = WallTime(secondsSinceEpoch: seconds)
            #expect(WallTime(rfc3339: moment.description) == moment)
        }
        for text in [
            "", "@", "@x", "2026-11-21", "2026-11-21t04:31:00z", "2026-13-01T00:00:00Z", "2026-11-21T04:31:60Z",
        ] {
            #expect(WallTime(rfc3339: text) == nil, "\(text)")
        }
    }

    private func quoted(_ text: String) -> String {
        JSONText.string(text).rendered
    }
}
