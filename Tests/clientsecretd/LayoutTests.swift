import Testing

@testable import clientsecretd

@Suite struct LayoutTests {
    @Test func aTableAlignsItsColumnsAndEndsItsLinesWithoutBlanks() {
        let table = Table(
            headings: ["A", "LONGER", "C"],
            rows: [
                [Piece("wide"), Piece("x"), Piece("y")],
                [Piece("n"), Piece("z"), Piece("")],
            ])
        let lines = table.lines.map { $0.map(\.text).joined() }
        #expect(lines == ["A     LONGER  C", "wide  x       y", "n     z"])
        #expect(table.width == 15)
    }

    @Test func aParagraphIsWrappedAtWordsAndIndented() {
        #expect(
            Paragraph.lines("the quick brown fox jumps over it", columns: 20)
                == ["the quick brown fox", "  jumps over it"])
    }

    @Test func aLongWordStaysWhole() {
        #expect(
            Paragraph.lines("see /a/path/that/is/longer/than/a/line now", columns: 20)
                == ["see", "  /a/path/that/is/longer/than/a/line", "  now"])
    }

    @Test func withoutAWidthNothingIsWrapped() {
        let text = String(repeating: "word ", count: 100)
        #expect(Paragraph.lines(text, columns: nil) == [text])
        #expect(Paragraph.lines(text, columns: 10) == [text])
    }

    @Test func aFrameIsDrawnOverTheOneBefore() {
        var screen = Screen()
        #expect(screen.frame(["one", "two"], rows: 24) == "\u{1B}[2J\u{1B}[Hone\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        // Nothing is erased before it is drawn over: that would flicker.
        #expect(screen.frame(["three"], rows: 24) == "\u{1B}[Hthree\u{1B}[K\n\u{1B}[J")
    }

    @Test func aFrameNeverScrollsTheScreen() {
        var screen = Screen()
        let frame = screen.frame((1...9).map { "line \($0)" }, rows: 5)
        #expect(frame.hasSuffix("line 3\u{1B}[K\nand 6 more lines\u{1B}[K\n\u{1B}[J"))
        #expect(frame.filter { $0 == "\n" }.count == 4)
    }
}
