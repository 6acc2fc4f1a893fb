import AppleClientSecret
import SignIn
import Testing

/// What needs no server.
@Suite struct JSONValueTests {
    private func read(_ text: String, _ duplicates: JSONValue.Duplicates = .refused) throws(JSONValue.Flaw) -> JSONValue
    {
        try JSONValue(Array(text.utf8), duplicates: duplicates)
    }

    @Test func valuesAreRead() throws {
        #expect(
            try read(#" {"a": [1, -2, 0, 1.5, 1e2, true, false, null], "b": {"c": ""}} "#)
                == .object([
                    "a": .array([
                        .integer(1), .integer(-2), .integer(0), .fraction(1.5), .fraction(100), .bool(true),
                        .bool(false),
                        .null,
                    ]), "b": .object(["c": .string("")]),
                ]))
        #expect(try read(#""\u00e9\n\"\\\/\ud83d\ude00é""#) == .string("é\n\"\\/😀é"))
        #expect(try read("9223372036854775807") == .integer(.max))
        #expect(try read("9223372036854775808") == .fraction(9_223_372_036_854_775_808))
    }

    @Test(arguments: [
        "", "{", "}", "{}{}", "{} x", "[1,]", "[,1]", #"{"a"}"#, #"{"a":}"#, #"{a:1}"#, "01", "-", "1.", ".5", "1e",
        "+1",
        "nul", "\"", "\"\u{1}\"", #""\x""#, #""\u12""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, "1e999", "NaN",
        "\u{FEFF}{}", "'a'",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(throws: JSONValue.Flaw.notJSON) { try read(text) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: JSONValue.Flaw.notJSON) { try JSONValue([0x22, 0xC3, 0x28, 0x22], duplicates: .refused) }
    }

    @Test func aNameThatOccursTwiceIsRefusedOrTheLastCounts() throws {
        #expect(throws: JSONValue.Flaw.duplicate("a")) { try read(#"{"a": 1, "\u0061": 2}"#) }
        #expect(throws: JSONValue.Flaw.duplicate("b")) { try read(#"{"a": {"b": 1, "b": 1}}"#) }
        #expect(try read(#"{"a": 1, "a": 2}"#, .lastCounts)["a"] == .integer(2))
    }

    @Test func nestingHasALimit() throws {
        let deep = JSONValue.deepest
        #expect(try read(String(repeating: "[", count: deep) + String(repeating: "]", count: deep)).elements != nil)
        #expect(throws: JSONValue.Flaw.notJSON) { try read(String(repeating: "[", count: 100_000)) }
        #expect(throws: JSONValue.Flaw.notJSON) {
            try read(String(repeating: "[", count: deep + 2) + String(repeating: "]", count: deep + 2))
        }
    }
}

@Suite struct FormEncodingTests {
    @Test func whatIsEncodedIsDecoded() throws {
        let fields: [FormEncoding.Field] = [("a", "x y&z=ä+%~"), ("b", "")]
        let text = FormEncoding.encode(fields)
        #expect(text == "a=x%20y%26z%3D%C3%A4%2B%25%7E&b=")
        #expect(FormEncoding.decode(text) == ["a": "x y&z=ä+%~", "b": ""])
        #expect(FormEncoding.decode("a=x+y") == ["a": "x y"])
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "a=1&a=2", "a=%+1"])
    func whatIsNoFormIsRefused(text: String) {
        #expect(FormEncoding.decode(text) == nil)
    }
}

@Suite struct VerdictTests {
    private func verdict(_ status: Int, _ body: String) -> Verdict {
        Verdict(.success(HTTPAnswer(status: status, body: Array(body.utf8), date: nil)))
    }

    /// Apple's answers are read leniently.
    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, Verdict.Outcome.accepted),
        (
            400, "\n {\"error\" : \"invalid_grant\", \"error_description\":\"The code has expired\", \"x\":{}}",
            .accepted
        ),
        (400, #"{"error":"invalid_client","email_verified":false}"#, .refused),
        (401, #"{"error":"invalid_client"}"#, .refused),
        (400, #"{"error":"invalid_request"}"#, .unknown), (400, #"{"error":"Invalid_Client"}"#, .unknown),
        (400, #"{"error":{"code":"invalid_client"}}"#, .unknown), (400, "invalid_client", .unknown),
        (400, "", .unknown),
        (500, #"{"error":"invalid_client"}"#, .unknown), (429, #"{"error":"invalid_client"}"#, .unknown),
        (200, #"{"error":"invalid_grant"}"#, .unknown), (302, #"{"error":"invalid_client"}"#, .unknown),
        (200, #"{"access_token":"a"}"#, .unknown),
    ])
    func isWhatAppleMeans(status: Int, body: String, outcome: Verdict.Outcome) {
        #expect(verdict(status, body).outcome == outcome)
    }

    @Test func survivesBeingWrittenAndRead() throws {
        let all = [
            verdict(400, #"{"error":"invalid_grant"}"#), verdict(400, #"{"error":"invalid_client"}"#),
            verdict(503, "x"),
            Verdict(.failure(TransportFailure(.timedOut, "a \"reason\"\n"))), .malformedRequest,
        ]
        for one in all { #expect(Verdict(answer: one.answer.bytes) == one) }
        #expect(Verdict(answer: Array(#"{"verdict":"perhaps"}"#.utf8)) == nil)
    }

    @Test func aDescriptionIsCut() {
        let long = String(repeating: "x", count: 10_000)
        let detail = verdict(400, #"{"error":"invalid_client","error_description":"\#(long)"}"#).detail
        #expect(detail?.count == 200)
    }

    @Test func everyReasonHasWordsOfItsOwn() {
        let words = Set(TransportFailure.Kind.allCases.map { TransportFailure($0, "").words })
        #expect(words.count == TransportFailure.Kind.allCases.count)
    }
}

@Suite struct QuestionPaceTests {
    @Test func sixInAMinuteAtMost() {
        var pace = QuestionPace()
        #expect((0..<6).map { pace.pause(at: 1_000 + $0) } == [0, 0, 0, 0, 0, 0])
        #expect(pace.pause(at: 2_000) == 59_000)
        // That one counts as asked at the end of its pause.
        #expect(pace.pause(at: 61_000) == 1)
        #expect(pace.pause(at: 200_000) == 0)
    }

    /// In any minute, however they are spread.
    @Test func noMinuteHasMore() {
        var pace = QuestionPace()
        var now: Int64 = 0
        var asked: [Int64] = []
        for step in 0..<500 {
            now += Int64(step * 7_919 % 13_000)
            now += pace.pause(at: now)
            asked.append(now)
        }
        for start in asked { #expect(asked.count { (start..<start + 60_000).contains($0) } <= 6) }
    }
}
