import Failures
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

    private static let text = String(repeating: "word ", count: 100)

    @Test(
        arguments: [
            ("the quick brown fox jumps over it", 20, 2, ["the quick brown fox", "  jumps over it"]),
            // What is indented stays so.
            ("  the quick brown fox jumps over it", 24, 4, ["  the quick brown fox", "    jumps over it"]),
            // A long word stays whole.
            (
                "see /a/path/that/is/longer/than/a/line now", 20, 2,
                ["see", "  /a/path/that/is/longer/than/a/line", "  now"]
            ),
            (text, nil, 2, [text]), (text, 10, 2, [text]),
        ] as [(String, Int?, Int, [String])])
    func aParagraphIsWrappedAtWordsAndIndented(text: String, columns: Int?, indent: Int, lines: [String]) {
        #expect(Paragraph.lines(text, columns: columns, indent: indent) == lines)
    }

    @Test(
        arguments: [
            (80, "C.UTF-8", ["  fix: create it: mkdir -p '/srv/a b/ü'"]),
            (30, "C.UTF-8", ["  fix: create it:", "    mkdir -p '/srv/a b/ü'"]),
            (20, "C.UTF-8", ["  fix: create it:", "    mkdir -p '/srv/a b/ü'"]),
            (nil, "C.UTF-8", ["  fix: create it: mkdir -p '/srv/a b/ü'"]),
            // One that cannot be shown.
            (80, "C", ["  fix: create it; run clientsecretd check as root"]),
        ] as [(Int?, String, [String])])
    func aCommandIsNeverWrapped(columns: Int?, locale: String, lines: [String]) {
        let terminal = Terminal(size: columns.map { ($0, 24) }, environment: ["LANG": locale])
        let line = CommandMessage("  fix: create it: mkdir -p '/srv/a b/ü'", command: "mkdir -p '/srv/a b/ü'")
        #expect(Paragraph.lines(line, on: terminal, indent: 4) == lines)
    }

    private func terminal(_ columns: Int, _ rows: Int) -> Terminal {
        Terminal(size: (columns, rows), environment: ["NO_COLOR": "1"])
    }

    @Test func aFrameIsDrawnOverTheOneBefore() {
        var screen = Screen()
        let terminal = terminal(80, 24)
        #expect(
            screen.frame([[Piece("one")], [Piece("two")]], on: terminal)
                == "\u{1B}[2J\u{1B}[Hone\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        // Nothing is erased before it is drawn over: that would flicker.
        #expect(screen.frame([[Piece("three")]], on: terminal) == "\u{1B}[Hthree\u{1B}[K\n\u{1B}[J")
    }

    @Test func aFrameNeverScrollsTheScreen() {
        var screen = Screen()
        let frame = screen.frame((1...9).map { [Piece("line \($0)")] }, on: terminal(80, 5))
        #expect(frame.hasSuffix("line 3\u{1B}[K\nand 6 more lines\u{1B}[K\n\u{1B}[J"))
        #expect(frame.filter { $0 == "\n" }.count == 4)
    }

    @Test func aLineThatIsTooLongCountsAsOftenAsItGoesOn() {
        var screen = Screen()
        let lines = [String(repeating: "x", count: 41), "two", "three"].map { [Piece($0)] }
        #expect(screen.frame(lines, on: terminal(20, 6)).hasSuffix("x\u{1B}[K\ntwo\u{1B}[K\nthree\u{1B}[K\n\u{1B}[J"))
        #expect(screen.frame(lines, on: terminal(20, 5)).hasSuffix("x\u{1B}[K\nand 2 more lines\u{1B}[K\n\u{1B}[J"))
    }
}
