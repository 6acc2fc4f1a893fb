import Testing

@testable import StatusAPI

/// What somebody puts on the wire who means no good, or has pasted the wrong thing.
@Suite struct HostileTextTests {
    @Test func anAnswerIsNoneHoweverItComesInPieces() {
        let text = Array(" HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".utf8)
        for size in [text.count, 7, 1] {
            let what = #expect(throws: ResponseReader.Failure.self) {
                var reader = ResponseReader()
                for start in stride(from: 0, to: text.count, by: size) {
                    _ = try reader.take(Array(text[start..<min(start + size, text.count)]))
                }
            }
            #expect(what?.what == "it is not HTTP", "\(size) bytes at a time")
        }
    }

    @Test func aSecretInThePlaceOfANameIsNotQuoted() throws {
        let secret = String(repeating: "aB3-", count: 20)
        let refused = #expect(throws: Problem.self) { try RenewalBody(json: Array(#"{"\#(secret)":1}"#.utf8)) }
        #expect(
            refused?.detail.hasPrefix("the body is not a renewal: '(80 characters)': there is no such member") == true)
    }
}
