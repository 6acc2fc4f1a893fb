import AppleClientSecret
import Failures
import Model
import Testing

@testable import Push

@Suite struct JSONEditTests {
    private func set(_ name: String, in object: String) -> String? {
        JSONEdit.setting(name, to: Array("\"new\"".utf8), in: Array(object.utf8)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: [
        (#"{}"#, #"{"a":"new"}"#), (#"{ "a" : "old" , "b":1.50e3 }"#, #"{ "a" : "new" , "b":1.50e3 }"#),
        (#"{"b":{"a":1},"a":[1,{"a":"}"}],"c":"\"}"}"#, #"{"b":{"a":1},"a":"new","c":"\"}"}"#),
        (#"{"b":99999999999999999999}"#, #"{"b":99999999999999999999,"a":"new"}"#),
        (#"{"\u0061":true}"#, #"{"\u0061":"new"}"#), ("{\n  \"a\": null\n}", "{\n  \"a\": \"new\"\n}"),
    ])
    func everyOtherByteStays(before: String, after: String) {
        #expect(set("a", in: before) == after)
    }

    @Test(arguments: ["[]", "\"a\"", "", "{", #"{"a":1,"a":2}"#, "null"])
    func aValueThatIsNoObjectIsNotEdited(text: String) {
        #expect(set("a", in: text) == nil)
    }

    @Test func pointers() {
        #expect(JSONEdit.pointer("/a~1b/~0c/0") == ["a/b", "~c", "0"])
        #expect(JSONEdit.pointer("") == [])
        for text in ["a", "/a~2", "/~"] { #expect(JSONEdit.pointer(text) == nil) }
        let bytes = Array(#"{"a":[{"b":1},{"b":"x,]"}]}"#.utf8)
        let span = JSONValue.range(of: ["a", "1", "b"], in: bytes)
        #expect(span.map { String(decoding: bytes[$0], as: UTF8.self) } == #""x,]""#)
        #expect(JSONValue.range(of: ["a", "2"], in: bytes) == nil)
    }
}

@Suite struct PushMessageTests {
    @Test func everyRequestThatIsWrittenIsRead() throws {
        let results: [PushResult] = [
            .published(PushPlaceReading(holds: true)), .published(PushPlaceReading(holds: nil)),
            .read(PushPlaceReading(holds: false)),
            .failed(RoleFailure(.pushRateLimited, "later", retryAfter: 70)), .redeployed(ready: false),
            .failed(RoleFailure(.pushRateLimited, placeContent: .nothing)),
            .failed(RoleFailure(.pushTimedOut), at: WallTime(secondsSinceEpoch: 1_800_000_000)),
            .published(
                PushPlaceReading(holds: false, instead: .unusable), at: WallTime(secondsSinceEpoch: 1_800_000_000)),
            .read(PushPlaceReading(holds: false, instead: .nothing)),
            .read(PushPlaceReading(holds: false, instead: .something)),
            .read(
                PushPlaceReading(
                    holds: false, instead: .secret(expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000)))),
            .published(PushPlaceReading(holds: nil, use: .used)),
            .read(PushPlaceReading(holds: true, use: .unused("enabled is false"))),
            .read(PushPlaceReading(holds: nil, use: .outdated("it began at 2026-11-29T20:00:00Z"))),
            .redeployed(ready: true, begun: BegunDeployment(id: "dpl_2", at: WallTime(secondsSinceEpoch: 7))),
        ]
        let codes = FailureCode.allCases.filter { $0.rawValue.hasPrefix("push_") }
        let failed = codes.filter { !$0.traits.contains(.ofDaemonOnly) }.map { PushResult.failed(RoleFailure($0)) }
        for result in results + failed { #expect(try PushResult(parsing: result.jsonText.bytes) == result) }
        for text in [
            "", "{}", #"{"result":"failed","code":"disk_full"}"#, #"{"result":"done"}"#, #"{"result":"redeployed"}"#,
            // What only the daemon can find.
            #"{"result":"failed","code":"push_service_missing"}"#, #"{"result":"failed","code":"push_service_silent"}"#,
            #"{"result":"failed","code":"push_not_kept"}"#, #"{"result":"failed","code":"push_switched_off"}"#,
            #"{"result":"failed","code":"push_deployment_outdated"}"#,
        ] {
            #expect((try? PushResult(parsing: Array(text.utf8))) == nil)
        }
    }

    /// A daemon or a role of an earlier version knows only whether there is nothing.
    @Test func anAnswerOfAnotherVersionIsUnderstood() throws {
        for (members, content) in [
            (#""place_empty":true"#, .nothing), (#""place_empty":false"#, .something), (#""place_empty":null"#, nil),
        ] as [(String, PushPlaceContent?)] {
            let text = #"{"result":"failed","code":"push_rate_limited",\#(members)}"#
            let failure = RoleFailure(.pushRateLimited, placeContent: content)
            #expect(try PushResult(parsing: Array(text.utf8)) == .failed(failure))
        }
        let held = PushPlaceContent.secret(expiresAt: WallTime(secondsSinceEpoch: 7))
        for (content, isEmpty) in [(.nothing, true), (.unusable, false), (held, false)] as [(PushPlaceContent, Bool)] {
            let json = PushResult.failed(RoleFailure(.pushRateLimited, placeContent: content)).json
            #expect(json.contains(#""place_empty":\#(isEmpty)"#), "\(json)")
        }
    }

    private static let secret = PushBed.secrets[0]

    /// Also without a secret, with those of the same document, and with what the daemon remembers.
    @Test(arguments: [
        #"{"do":"publish","client_secret":"\#(secret)"}"#, #"{"do":"read","client_secret":"\#(secret)"}"#,
        #"{"do":"publish","client_secret":"\#(secret)","others":{"ios":"\#(PushBed.secrets[1])"}}"#,
        #"{"do":"publish","client_secret":"\#(secret)","was_written":true}"#, #"{"do":"redeploy"}"#,
        #"{"do":"redeploy","written_at":1800000000,"deployment":{"id":"dpl_1","at":1800000007}}"#,
        #"{"do":"redeploy","places":{"ios":"7","production":"a"}}"#,
    ])
    func aRequestIsRead(text: String) throws {
        let request = try #require(PushRoleRequest(line: Array(text.utf8)))
        #expect(request.line == Array(text.utf8))
    }

    @Test(arguments: [
        "", "[]", #"{"do":"publish"}"#, #"{"do":"burn","client_secret":"a.b.c"}"#,
        #"{"do":"publish","client_secret":"no token"}"#, #"{"do":"publish","client_secret":"a.b.c","others":[]}"#,
        #"{"do":"publish","client_secret":"a.b.c","others":{"ios":"no token"}}"#,
        #"{"do":"publish","do":"read","client_secret":"a.b.c"}"#,
    ])
    func otherTextsAreNoRequest(text: String) {
        #expect(PushRoleRequest(line: Array(text.utf8)) == nil)
    }
}
