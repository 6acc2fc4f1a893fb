import Testing

@testable import StatusAPI

struct ResponseReaderTests {
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
}
