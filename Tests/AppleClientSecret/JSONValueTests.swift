import AppleClientSecret
import Testing

@Suite struct JSONValueTests {
    private func read(_ text: String, _ duplicates: JSONValue.Duplicates = .refused) throws(JSONError) -> JSONValue {
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
        "nul", "\"", "\"\u{1}\"", #""\x""#, #""\u12""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, "NaN",
        "\u{FEFF}{}", "'a'",
    ])
    func invalidJSONIsRefused(text: String) {
        #expect(throws: JSONError.notJSON) { try read(text) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: JSONError.notJSON) { try JSONValue([0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test func aNameThatOccursTwiceIsRefusedOrTheLastCounts() throws {
        #expect(throws: JSONError.duplicate("a")) { try read(#"{"a": 1, "\u0061": 2}"#) }
        #expect(throws: JSONError.duplicate("b")) { try read(#"{"a": {"b": 1, "b": 1}}"#) }
        #expect(try read(#"{"a": 1, "a": 2}"#, .lastCounts)["a"] == .integer(2))
    }

    @Test func numbersHaveALimit() throws {
        #expect(throws: JSONError.numberTooLarge) { try read(#"{"a": 1e400}"#) }
        #expect(try read("-1e300") == .fraction(-1e300))
    }

    @Test func nestingHasALimit() throws {
        let deep = JSONValue.deepest
        #expect(try read(String(repeating: "[", count: deep) + String(repeating: "]", count: deep)).elements != nil)
        #expect(throws: JSONError.tooDeep) { try read(String(repeating: "[", count: 100_000)) }
        #expect(throws: JSONError.tooDeep) {
            try read(String(repeating: "[", count: deep + 2) + String(repeating: "]", count: deep + 2))
        }
    }
}
