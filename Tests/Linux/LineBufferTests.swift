import TestSupport
import Testing

@testable import Linux

struct LineBufferTests {
    /// Bytes of few values, so that there are many lines, in pieces of any size.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func findsTheSameLinesInAllPieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
            Bool.random(using: &random) ? UInt8(ascii: "\n") : UInt8.random(in: 97...122, using: &random)
        }
        var buffer = LineBuffer()
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &random))
            buffer.append(piece)
            rest = rest.dropFirst(piece.count)
            while Bool.random(using: &random), let line = buffer.next() { lines.append(line) }
        }
        while let line = buffer.next() { lines.append(line) }
        let all = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        #expect(lines == Array(all.dropLast()), "seed \(seed)")
        #expect(buffer.count == all.last?.count ?? 0, "seed \(seed)")
    }
}
