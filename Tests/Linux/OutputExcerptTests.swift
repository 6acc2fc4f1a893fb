import Testing

@testable import Linux

struct OutputExcerptTests {
    private func report(_ pieces: [String]) -> ExitReport {
        var output = OutputExcerpt()
        for piece in pieces { output.take(Array(piece.utf8)[...]) }
        return output.report(.exited(0))
    }

    private func shown(_ piece: OutputPiece) -> [String] { Array(piece.lines[piece.shown]) }

    @Test func splitsLinesWhereverTheyCameApart() {
        #expect(report(["one\ntw", "o\r\n", "\nlast"]).lines == ["one", "two", "", "last"])
        #expect(report([]).lines == [])
        #expect(report(["\n"]).lines == [""])
    }

    @Test func repairsWhatIsNotText() {
        var output = OutputExcerpt()
        output.take([0xFF, 0x41, 0x0A])
        #expect(output.report(.timedOut).lines == ["\u{FFFD}A"])
    }

    @Test func keepsTwoHundredLinesAndCountsTheOthers() {
        func lines(_ range: ClosedRange<Int>) -> [String] { range.map { "line \($0)" } }
        func report(_ count: Int) -> ExitReport { self.report(lines(1...count).map { $0 + "\n" }) }
        #expect(report(200).lines == lines(1...200))
        #expect(report(200).omitted == 0)
        let many = report(100_000)
        #expect(shown(many.first) == lines(1...100))
        #expect(many.omitted == 99_800)
        #expect(shown(many.last) == lines(99_901...100_000))
        #expect(shown(report(201).last) == lines(102...201))
    }

    /// What is next to the lines that are shown tells whether they are part of a secret.
    @Test func keepsWhatIsNextToTheLinesThatAreShown() {
        let many = report((1...1_000).map { "line \($0)\n" })
        #expect(many.first.lines[100] == "line 101")
        #expect(many.last.lines[many.last.shown.lowerBound - 1] == "line 900")
        let bytes = many.first.lines[100...].reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(bytes > OutputExcerpt.contextLimit / 2 && bytes <= OutputExcerpt.contextLimit)
    }

    @Test func keepsSixtyFourKibibytesAndLeavesOutWholeLines() {
        let line = String(repeating: "x", count: 999) + "\n"
        let cut = report(Array(repeating: line, count: 150) + ["end\n"])
        // 32 lines fit at each end; the 33rd would be cut.
        #expect(shown(cut.first).count == 32)
        #expect(shown(cut.last).count == 33)
        #expect(shown(cut.last).last == "end")
        #expect(cut.omitted == 150 - 64)
        let fits = String(repeating: "x", count: OutputExcerpt.byteLimit - 1)
        #expect(report([fits]).lines == [fits])
        let tooLong = report(["before\n", fits, "xx", "\n", "after\n"])
        #expect((shown(tooLong.first), tooLong.omitted, shown(tooLong.last)) == (["before"], 1, ["after"]))
        #expect(report(["before\n", fits, "xx"]).omitted == 1)
    }
}
